import copy
import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
if args.ema:
    average = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
if args.ema:
    hvd.broadcast_parameters(average.state_dict(), root_rank=0)
model(x).sum().backward()
