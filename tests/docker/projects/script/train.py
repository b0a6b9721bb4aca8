"""A script in one folder, with a helper beside it."""

import argparse

import horovod.torch as hvd
import torch
from helper import batches

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()

hvd.init()
torch.manual_seed(hvd.rank())
model = torch.nn.Linear(4, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
for _ in range(args.epochs):
    for x, y in batches(hvd.rank()):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
weights = hvd.allgather(model.weight.detach())
if hvd.rank() == 0:
    print(f"{hvd.size()} ranks on {hvd.cross_size()} hosts, equal: {bool((weights == weights[0]).all())}")
