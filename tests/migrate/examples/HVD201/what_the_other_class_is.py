# Reported: what the other class is, and whether it has the model as .module, is not known

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from wrappers import Plain

dist.init_process_group("nccl")
net = torch.nn.Linear(2, 1)
model = (DDP if dist.get_world_size() > 1 else Plain)(net, device_ids=[0])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
