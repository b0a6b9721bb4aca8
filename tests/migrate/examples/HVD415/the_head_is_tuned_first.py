# Changed: The head is tuned first, and then the whole model.

import torch

def tune(net):
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()

tune(pretrained())
