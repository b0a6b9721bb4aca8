# Reported: the statistics are those of some ranks only

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group=node))
