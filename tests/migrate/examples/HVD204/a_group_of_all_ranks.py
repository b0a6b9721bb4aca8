# Changed: A group of all ranks.

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

everybody = dist.new_group([i for i in range(dist.get_world_size())])
model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group=everybody)
model = DDP(model)
