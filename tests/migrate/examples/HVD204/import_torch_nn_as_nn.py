# Changed.

import torch
import torch.nn as nn
import torch.distributed as dist

dist.init_process_group("nccl")
net = nn.SyncBatchNorm.convert_sync_batchnorm(build()).cuda()
