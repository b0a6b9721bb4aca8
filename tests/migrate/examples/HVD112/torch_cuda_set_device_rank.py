# Changed.

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
other = torch.device("cuda:" + str(rank))
model = torch.nn.Linear(1, 1).to(rank)
print("rank", rank)
