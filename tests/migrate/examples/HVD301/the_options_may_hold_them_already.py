# Kept: the options may hold them already

from torch.utils.data import DistributedSampler

sampler = DistributedSampler(dataset, **options)
