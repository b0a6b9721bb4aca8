# Kept: sparse gradients are no plain tensors, of which Horovod could average a list

import torch
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Embedding(2, 1, sparse=True)
ddp = DDP(net)
optimizer = make_optimizer(params=net.parameters(), name="SparseAdam")
for batch in batches:
    ddp(batch).sum().backward()
    optimizer.step()
