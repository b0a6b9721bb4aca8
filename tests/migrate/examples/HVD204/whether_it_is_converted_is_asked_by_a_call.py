# Reported: whether it is converted is asked by a call, which is not to be asked twice

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(build()) if wanted() else build()
model = DDP(model)
