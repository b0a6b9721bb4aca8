# Changed.
# Options: --target hvdkit

import torch

sampler = torch.utils.data.distributed.DistributedSampler(dataset)
