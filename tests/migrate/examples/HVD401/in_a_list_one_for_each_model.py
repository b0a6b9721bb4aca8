# Reported: in a list, one for each model: their gradients would have the same names, and Horovod reduces by
# name

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

models = [DDP(torch.nn.Linear(2, 1)) for _ in range(2)]
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
