# Kept: the test stands in the same expression
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
loss.backward()
dist.get_rank() == 0 and torch.save(model.state_dict(), "model.pt")
dist.get_rank() > 0 or torch.save(model.state_dict(), "last.pt")
