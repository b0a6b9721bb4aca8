import torch


def play(environment, net):
    state, states = environment.reset(), []
    for _ in range(100):
        states.append(state)
        state, reward, done, _ = environment.step(net(state))
    return torch.stack(states)


# hvdkit: TODO[HVD304] let each rank draw its own batches: add hvd.rank() to a seed that is set below every split of the data, or take every hvd.size()-th batch from the hvd.rank()-th on
for step in range(100):
    states = play(environment, net)
    net(states).mean().backward()
    optimizer.step()
