"""Trains one model with an optimizer for each phase, the second made anew."""

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
rank = dist.get_rank()

torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 4), torch.randn(32, 2))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False))
model = DistributedDataParallel(torch.nn.Linear(4, 2))


def train(optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(optimizer)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
train(optimizer)

Path(f"{os.environ['RESULTS']}.{rank}").write_text(json.dumps(model.module.weight.tolist()))
dist.destroy_process_group()
