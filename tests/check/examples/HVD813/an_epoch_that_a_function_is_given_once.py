# Reported: the function is told of one epoch only

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

hvd.init()
data = torch.utils.data.TensorDataset(torch.linspace(0, 1, 64))
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
loader = DataLoader(data, batch_size=4, sampler=sampler)
model = torch.nn.Linear(1, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))


def train():
    sampler.set_epoch(0)
    for (x,) in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()


for epoch in range(10):
    train()
