# Kept: every rank reads it

import horovod.torch as hvd
import torch

hvd.init()
start = torch.load("checkpoint")["epoch"]
for epoch in range(start, 10):
    model(x).sum().backward()
