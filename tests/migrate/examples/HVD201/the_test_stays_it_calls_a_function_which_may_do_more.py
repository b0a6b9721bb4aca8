# Changed: The test stays: it calls a function, which may do more than answer.

from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net) if is_distributed() else net
