# Changed: A sampler of the project's own that hands on a rank and a size that nobody gives it.

from torch.utils.data.distributed import DistributedSampler

def loader(data):
    return Sequential(data, shuffle=False), Sequential(data, 4, 1)

class Sequential(DistributedSampler):
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=False):
        super().__init__(dataset, num_replicas, rank, shuffle)
