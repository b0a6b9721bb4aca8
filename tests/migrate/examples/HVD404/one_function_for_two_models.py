# Changed: One function for two models: each call has the optimizer that goes with its model.

import torch

def train(batches, net, optimizer):
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

class Net(torch.nn.Linear):
    pass

small = torch.nn.Linear(2, 1)
large = torch.nn.Linear(2, 8)
small_optimizer = torch.optim.Adam(small.parameters())
large_optimizer = torch.optim.Adam(large.parameters())
train(batches, small, small_optimizer)
train(batches, large, large_optimizer)
own = Net(2, 1)
own_optimizer = torch.optim.Adam(own.parameters())
train(batches, own, own_optimizer)
same = Net(2, 1)
same_optimizer = torch.optim.Adam(same.parameters())
train(batches, same, same_optimizer)
