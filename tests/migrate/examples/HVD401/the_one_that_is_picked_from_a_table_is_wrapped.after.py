import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
optimizer = {
    "adam": torch.optim.Adam([model.weight], rate),
    "sgd": torch.optim.SGD([model.weight], rate, momentum=0.9),
}[kind]
optimizer.add_param_group({"params": [model.bias]})
optimizer = hvd.DistributedOptimizer(optimizer)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
