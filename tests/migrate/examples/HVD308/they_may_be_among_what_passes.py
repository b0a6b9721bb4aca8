# Reported: they may be among what ** passes

import torch.distributed as dist
from lhotse.dataset import DynamicCutSampler

dist.init_process_group("nccl")
sampler = DynamicCutSampler(cuts, **options)
