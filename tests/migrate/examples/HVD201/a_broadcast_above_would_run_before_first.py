# Reported: a broadcast above would run before first()

from torch.nn.parallel import DistributedDataParallel as DDP

run(first(), DDP(build()))
