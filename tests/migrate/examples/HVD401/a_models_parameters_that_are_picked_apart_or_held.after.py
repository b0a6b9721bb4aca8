import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
if muon:
    biases = torch.optim.SGD([p for p in model.parameters() if p.ndim == 1], lr=0.1)
    biases = hvd.DistributedOptimizer(biases, named_parameters=model.named_parameters())
    weights = torch.optim.Adam([p for p in model.parameters() if p.ndim > 1])
    weights = hvd.DistributedOptimizer(weights, named_parameters=model.named_parameters())
else:
    every = torch.optim.Adam(model.parameters())
    every = hvd.DistributedOptimizer(every, named_parameters=model.named_parameters())
model(x).sum().backward()
