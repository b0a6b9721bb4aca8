# Changed: A rank that is the number of a device counts on its host (HVD112).

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(torch.device("cuda", dist.get_rank()))
print(dist.get_rank())
