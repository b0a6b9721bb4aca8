# Kept: both are given

from torch.utils.data import DistributedSampler

sampler = DistributedSampler(dataset, num_replicas=4, rank=1)
