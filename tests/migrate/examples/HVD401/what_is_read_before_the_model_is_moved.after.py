import copy

import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 20)
average = copy.deepcopy(model)
# hvdkit: TODO[HVD401] move the model before its optimizer is created
model.cuda()
for x in batches:
    model(x).sum().backward()
    optimizer.step()
