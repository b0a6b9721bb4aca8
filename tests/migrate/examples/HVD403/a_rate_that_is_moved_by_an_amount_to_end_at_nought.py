# Changed: A rate that is moved by an amount, to end at nought.
# Options: --suggested

import torch

def train(net, batches, rate, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for x in batches:
        optimizer.param_groups[0]["lr"] -= rate / steps
        net(x).sum().backward()
        optimizer.step()

train(torch.nn.Linear(2, 1), batches, 0.1, 100)
