import horovod.torch as hvd
from torch.distributed import barrier

hvd.broadcast_(x, root_rank=0)
barrier()
