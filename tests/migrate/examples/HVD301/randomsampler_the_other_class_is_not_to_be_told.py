# Changed: RandomSampler, the other class, is not to be told: the class is, where it is chosen.

from torch.utils.data import DistributedSampler, RandomSampler

def sampler(train, distributed):
    sampler_class = DistributedSampler if distributed else RandomSampler
    return sampler_class(train)
