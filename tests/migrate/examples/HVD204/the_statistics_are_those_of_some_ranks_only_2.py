# Reported: the statistics are those of some ranks only

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.SyncBatchNorm(8, process_group=node))
