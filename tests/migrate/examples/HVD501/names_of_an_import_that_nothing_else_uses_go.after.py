import horovod.torch as hvd
import torch
from torch.distributed import barrier, get_rank
from torch.distributed import (
    broadcast,
)

hvd.allreduce_(x, op=hvd.Sum)
hvd.allreduce_(x, op=hvd.Sum)
if get_rank() == 0:
    barrier()
broadcast(x, 0)
