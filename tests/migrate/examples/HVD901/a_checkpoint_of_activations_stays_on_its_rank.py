# Kept: a checkpoint of activations stays on its rank

import torch
from fairscale.nn.checkpoint import checkpoint_wrapper
from torch.distributed._composable import checkpoint
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(checkpoint_wrapper(torch.nn.Linear(2, 1)))
checkpoint(model)
