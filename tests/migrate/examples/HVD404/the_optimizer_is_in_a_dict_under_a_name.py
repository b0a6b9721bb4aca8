# Reported: the optimizer is in a dict under a name that is computed

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizers = {f"{kind}-0": torch.optim.SGD(model.parameters(), lr=0.1) for kind in ["sgd"]}
for x in batches:
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizers["sgd" + "-0"].step()
