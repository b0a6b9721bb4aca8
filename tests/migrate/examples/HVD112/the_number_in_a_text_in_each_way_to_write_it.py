# Changed: The number in a text, in each way to write it.

import torch
import torch.distributed as dist

rank = dist.get_rank()
device = torch.device("cuda:{}".format(rank))
other = torch.device("cuda:" + str(rank))
third = torch.device(f"cuda:{rank}")
model = torch.nn.Linear(2, 1).to(f"cuda:{rank}").cuda(rank)
