# Changed.

import torch
from monai.data import DistributedSampler
from timm.data.distributed_sampler import RepeatAugSampler

samplers = RepeatAugSampler(train, num_repeats=3), DistributedSampler(test, True, shuffle=False)
