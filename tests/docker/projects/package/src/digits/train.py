"""A module of a package, with a relative import, and hvdkit's form of Horovod."""

import torch

import hvdkit.torch as hvd

from .data import batches


def main():
    hvd.init()
    model = torch.nn.Linear(4, 1)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    for x, y in batches(hvd.rank()):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    weights = hvd.allgather(model.weight.detach())
    if hvd.rank() == 0:
        print(f"{hvd.size()} ranks on {hvd.cross_size()} hosts, equal: {bool((weights == weights[0]).all())}")


if __name__ == "__main__":
    main()
