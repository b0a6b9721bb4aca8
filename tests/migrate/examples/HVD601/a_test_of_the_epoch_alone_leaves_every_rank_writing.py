# Changed: A test of the epoch alone leaves every rank writing; a size of more than one is not rank 0.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
for epoch in range(10):
    loss.backward()
    if epoch % 5:
        torch.save(model.state_dict(), "model.pt")
    if dist.get_world_size() > 1:
        torch.save(model.state_dict(), "last.pt")
