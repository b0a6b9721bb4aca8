# Reported: no rank has the whole model

import torch
from torch.distributed.fsdp import fully_shard

model = torch.nn.Linear(2, 1)
for layer in model.children():
    fully_shard(layer)
