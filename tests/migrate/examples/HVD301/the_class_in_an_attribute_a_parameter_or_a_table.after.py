from functools import partial
import horovod.torch as hvd
from torch.utils.data import DistributedSampler

class Scans:
    sampler_class = DistributedSampler

    def sampler(self, data):
        return self.sampler_class(data, num_replicas=hvd.size(), rank=hvd.rank())

def sampler(data, given=None):
    in_order = partial(DistributedSampler, shuffle=False, num_replicas=hvd.size(), rank=hvd.rank())
    return in_order(data) if given is None else given(data, num_replicas=hvd.size(), rank=hvd.rank())

classes = {"shared": DistributedSampler}
samplers = sampler(data, DistributedSampler), classes["shared"](data, num_replicas=hvd.size(), rank=hvd.rank())
