import horovod.torch as hvd
from torch.utils.data import DistributedSampler, RandomSampler

def sampler(train, distributed):
    sampler_class = (lambda data, **options: DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), **options)) if distributed else RandomSampler
    return sampler_class(train)
