# Reported: it is read above, where it would not say yes yet

import torch.distributed as dist

distributed = load("config.yaml").distributed
sampler = make(data) if distributed else None
if distributed:
    dist.init_process_group("nccl")
for x in loader(data, sampler):
    model(x).sum().backward()
