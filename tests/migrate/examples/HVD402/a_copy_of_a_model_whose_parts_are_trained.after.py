import copy
import horovod.torch as hvd
import torch

model = Net()
average = copy.deepcopy(model)
head = copy.deepcopy(model.head)
groups = [{"params": model.backbone.parameters()}, {"params": model.head.parameters(), "lr": 0.02}]
optimizer = torch.optim.SGD(groups, lr=0.1)
hvd.broadcast_parameters(model.backbone.state_dict(), root_rank=0)
hvd.broadcast_parameters(model.head.state_dict(), root_rank=0)
hvd.broadcast_parameters(average.state_dict(), root_rank=0)
hvd.broadcast_parameters(head.state_dict(), root_rank=0)
model(x).sum().backward()
