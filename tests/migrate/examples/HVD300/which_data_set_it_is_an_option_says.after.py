import horovod.torch as hvd
import torch
from torchvision import datasets

if hvd.local_rank() != 0:
    hvd.barrier()
train = datasets.__dict__[args.data]("data", download=True)
if hvd.local_rank() == 0:
    hvd.barrier()
test = vars(datasets)[args.data]("data", train=False)
kind = getattr(datasets, args.more)
if hvd.local_rank() != 0:
    hvd.barrier()
more = kind("data", download=args.download)
if hvd.local_rank() == 0:
    hvd.barrier()
own = getattr(args, "made")("data", download=True)
model(train[0]).sum().backward()
optimizer.step()
