# Kept: the gradients are given to a function that reduces

import horovod.torch as hvd
import torch

def all_reduce(tensors):
    for t in tensors:
        hvd.allreduce_(t)

def main():
    hvd.init()
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        model(x).sum().backward()
        all_reduce([p.grad.data for p in model.parameters() if p.grad is not None])
        optimizer.step()

main()
