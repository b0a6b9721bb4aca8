# Changed: each round plays anew in the environment, so it is not one batch that every step computes

import torch


def play(environment, net):
    state, states = environment.reset(), []
    for _ in range(100):
        states.append(state)
        state, reward, done, _ = environment.step(net(state))
    return torch.stack(states)


for step in range(100):
    states = play(environment, net)
    net(states).mean().backward()
    optimizer.step()
