# Reported: no rank has the whole model

import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

model = FSDP(torch.nn.Linear(2, 1))
