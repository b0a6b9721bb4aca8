# Changed: The copy was made before the function was called that makes the optimizer.

import torch

def train(net, target):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(x).sum().backward()
    optimizer.step()

actor, critic = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
critic.load_state_dict(actor.state_dict())
train(actor, target=critic)
