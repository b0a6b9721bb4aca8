# Reported: a lambda has no room for a broadcast

from torch.nn.parallel import DistributedDataParallel as DDP

wrap = lambda net: DDP(net)
