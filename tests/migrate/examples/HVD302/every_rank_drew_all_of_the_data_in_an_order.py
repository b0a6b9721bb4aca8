# Changed: Every rank drew all of the data, in an order of its own.
# Options: --suggested

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

dist.init_process_group("nccl", rank=rank, world_size=size)
model = DistributedDataParallel(net.to(rank), device_ids=[rank])
loader = DataLoader(data, batch_size=8, shuffle=True)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
