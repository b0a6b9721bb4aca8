import horovod.torch as hvd
import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
model(x).sum().backward()
