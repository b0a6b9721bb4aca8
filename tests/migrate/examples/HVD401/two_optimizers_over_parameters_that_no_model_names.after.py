import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
weights = [p for n, p in model.named_parameters() if "bias" not in n] + [torch.nn.Parameter(torch.ones(1))]
biases = [p for n, p in model.named_parameters() if "bias" in n] + [torch.nn.Parameter(torch.ones(1))]
first = torch.optim.SGD(weights, lr=0.1)
first = hvd.DistributedOptimizer(first, named_parameters=[(f"first.{i}", p) for i, p in enumerate(p for group in first.param_groups for p in group["params"])])
second = torch.optim.SGD(biases, lr=0.1)
second = hvd.DistributedOptimizer(second, named_parameters=[(f"second.{i}", p) for i, p in enumerate(p for group in second.param_groups for p in group["params"])])
