# Kept: what calls the function of an epoch broadcasts after it

import horovod.torch as hvd
import torch


def train_epoch(model, optimizer):
    for x in torch.randn(28, 4).split(4)[hvd.rank() :: hvd.size()]:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    hvd.join()


def send(model, optimizer, last):
    hvd.broadcast_parameters(model.state_dict(), root_rank=last)
    hvd.broadcast_optimizer_state(optimizer, root_rank=last)


def main():
    hvd.init()
    model = torch.nn.Linear(4, 1)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
    send(model, optimizer, 0)
    for _ in range(2):
        train_epoch(model, optimizer)
        send(model, optimizer, hvd.size() - 1)


main()
