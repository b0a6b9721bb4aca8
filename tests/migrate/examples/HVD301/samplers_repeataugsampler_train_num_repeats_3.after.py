import horovod.torch as hvd
import torch
from monai.data import DistributedSampler
from timm.data.distributed_sampler import RepeatAugSampler

samplers = RepeatAugSampler(train, num_repeats=3, num_replicas=hvd.size(), rank=hvd.rank()), DistributedSampler(test, True, shuffle=False, num_replicas=hvd.size(), rank=hvd.rank())
