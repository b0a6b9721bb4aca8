import horovod.torch as hvd
from torch.utils.data.distributed import DistributedSampler

class Repeated(DistributedSampler):
    def __init__(self, repeats, *args, **options):
        self.repeats = repeats
        super().__init__(*args, **options)

sampler = Repeated(3, data, drop_last=True, num_replicas=hvd.size(), rank=hvd.rank())
told = Repeated(3, data, 4, 1)
