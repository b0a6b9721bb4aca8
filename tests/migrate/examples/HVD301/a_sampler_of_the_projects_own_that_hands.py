# Changed: A sampler of the project's own that hands on what follows its own arguments.

from torch.utils.data.distributed import DistributedSampler

class Repeated(DistributedSampler):
    def __init__(self, repeats, *args, **options):
        self.repeats = repeats
        super().__init__(*args, **options)

sampler = Repeated(3, data, drop_last=True)
told = Repeated(3, data, 4, 1)
