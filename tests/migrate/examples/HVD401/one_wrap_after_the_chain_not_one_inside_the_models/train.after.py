import horovod.torch as hvd
import torch
from models import Net

model = Net()
if args.adam:
    optimizer = model.configure(0.1)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
model(x).sum().backward()
