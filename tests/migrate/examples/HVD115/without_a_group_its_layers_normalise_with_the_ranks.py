# Changed: Without a group its layers normalise with the rank's own batch, and say nothing.

import torch
import torch.distributed as dist
from inplace_abn import InPlaceABNSync

dist.init_process_group("nccl")
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), InPlaceABNSync(8))
