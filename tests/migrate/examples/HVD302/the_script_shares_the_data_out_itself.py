# Kept: the script shares the data out itself
# Options: --suggested

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

dist.init_process_group("nccl")
model = DistributedDataParallel(net)
data = everything[dist.get_rank() :: dist.get_world_size()]
for x in DataLoader(data, batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
