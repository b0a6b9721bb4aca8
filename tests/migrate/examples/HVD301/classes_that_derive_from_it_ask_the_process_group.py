# Changed: Classes that derive from it ask the process group, too.

from torch.utils.data import DistributedSampler

class Balanced(DistributedSampler):
    def __init__(self, dataset):
        super().__init__(dataset, shuffle=True)

class Plain(DistributedSampler):
    def __len__(self):
        return 8

samplers = Balanced(data), Plain(data)
