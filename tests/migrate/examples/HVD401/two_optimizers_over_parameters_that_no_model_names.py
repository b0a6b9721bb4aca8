# Changed: Two optimizers over parameters that no model names get names of their own.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
weights = [p for n, p in model.named_parameters() if "bias" not in n] + [torch.nn.Parameter(torch.ones(1))]
biases = [p for n, p in model.named_parameters() if "bias" in n] + [torch.nn.Parameter(torch.ones(1))]
first = torch.optim.SGD(weights, lr=0.1)
second = torch.optim.SGD(biases, lr=0.1)
