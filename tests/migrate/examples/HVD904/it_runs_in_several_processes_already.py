# Reported: it runs in several processes already, which mpi4py joins: no script of a single process

import torch
from mpi4py import MPI

def average_gradients(model):
    for p in model.parameters():
        mean = p.grad.numpy() * 0
        MPI.COMM_WORLD.Allreduce(p.grad.numpy(), mean, op=MPI.SUM)
        p.grad.numpy()[:] = mean / MPI.COMM_WORLD.Get_size()

optimizer = torch.optim.Adam(model.parameters())
loss.backward()
average_gradients(model)
optimizer.step()
