import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
if cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
for x in batches:
    model(x).sum().backward()
    optimizer.step()

model = torch.nn.Linear(4, 1)
if cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
for x in batches:
    model(x).sum().backward()
    optimizer.step()
