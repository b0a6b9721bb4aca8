import horovod.torch as hvd
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
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(prefix=f"model.{len(optimizers)}"))
    optimizers.append(optimizer)
