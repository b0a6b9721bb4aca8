# Reported: the answer changes, and something else depends on it

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
many = isinstance(model, DDP)
