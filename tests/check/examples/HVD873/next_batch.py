# Reported: the batch is drawn from the loader by hand, and the loss handed out by a function

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler


def train(batches):
    x, y = next(batches)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item(), 1


hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
batches = iter(loader)
steps = 0
while steps < 1000:
    loss, count = train(batches)
    steps += count
    if loss < 0.1:
        break
