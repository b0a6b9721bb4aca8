# Reported: the prefix is part of a key that is made

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
weight = state[f"module.{name}.weight"]
