import horovod.torch as hvd
from torch.utils.data import DistributedSampler

class Balanced(DistributedSampler):
    def __init__(self, dataset):
        super().__init__(dataset, shuffle=True, num_replicas=hvd.size(), rank=hvd.rank())

class Plain(DistributedSampler):
    def __len__(self):
        return 8

samplers = Balanced(data), Plain(data, num_replicas=hvd.size(), rank=hvd.rank())
