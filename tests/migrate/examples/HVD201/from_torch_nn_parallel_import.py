# Changed.
# Options: --target hvdkit

from torch.nn.parallel import DistributedDataParallel

def wrap(net, gpu):
    return DistributedDataParallel(net, device_ids=[gpu])
