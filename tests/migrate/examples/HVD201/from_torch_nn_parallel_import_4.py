# Changed.

from torch.nn.parallel import DistributedDataParallel as DDP

trainer = Trainer(config, model=DDP(net), lr=0.1)
