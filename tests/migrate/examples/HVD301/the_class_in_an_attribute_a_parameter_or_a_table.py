# Changed: The class in an attribute, a parameter or a table, and one that functools.partial gives
# arguments.

from functools import partial
from torch.utils.data import DistributedSampler

class Scans:
    sampler_class = DistributedSampler

    def sampler(self, data):
        return self.sampler_class(data)

def sampler(data, given=None):
    in_order = partial(DistributedSampler, shuffle=False)
    return in_order(data) if given is None else given(data)

classes = {"shared": DistributedSampler}
samplers = sampler(data, DistributedSampler), classes["shared"](data)
