# Reported: Horovod's does not do apex's ReLU

from apex.parallel import SyncBatchNorm
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(SyncBatchNorm(8, fuse_relu=True))
