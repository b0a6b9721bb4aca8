import horovod.torch as hvd
import torch
from model import make

hvd.init()
if torch.cuda.is_available():
    torch.cuda.set_device(hvd.local_rank())

net = make()
from data import batches

for x in batches:
    net(x).backward()
    optimizer.step()
