# Reported: one runs before hvd.init(), and of the table's classes only one takes a rank

from functools import partial
from torch.utils.data import DistributedSampler, RandomSampler

in_order = partial(DistributedSampler, shuffle=False)
classes = {"shared": DistributedSampler, "random": RandomSampler}

def sampler(data, kind):
    return classes[kind](data) if kind else in_order(data)
