import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if torch.cuda.is_available():
    model.cuda()
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
for x in loader:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
