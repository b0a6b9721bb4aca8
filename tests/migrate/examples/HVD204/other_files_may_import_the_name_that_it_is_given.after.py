import horovod.torch as hvd
from torch.nn.parallel import DistributedDataParallel as DDP

Norm = hvd.SyncBatchNorm
model = DDP(build(Norm))
