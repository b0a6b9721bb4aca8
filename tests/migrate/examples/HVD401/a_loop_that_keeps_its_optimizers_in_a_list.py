# Changed: A loop that keeps its optimizers in a list: they are numbered. A test chooses the class.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Lars(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

optimizers = []
for size, name in ((1, "sgd"), (2, "lars")):
    model = DDP(torch.nn.Linear(2, size))
    make = torch.optim.SGD if name == "sgd" else Lars
    optimizer = make(model.parameters(), lr=0.1)
    optimizers.append(optimizer)
