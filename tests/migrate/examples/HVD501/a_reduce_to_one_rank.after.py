import horovod.torch as hvd
import torch

total = torch.zeros(1)
hvd.allreduce_(total.div_(args.world_size), op=hvd.Sum)
hvd.allreduce_(total, op=hvd.Max)
