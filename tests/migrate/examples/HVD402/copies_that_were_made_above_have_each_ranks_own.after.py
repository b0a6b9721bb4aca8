import copy
import horovod.torch as hvd
import torch

actor = torch.nn.Linear(2, 1)
target = torch.nn.Linear(2, 1)
target.load_state_dict(actor.state_dict())
average = copy.deepcopy(actor).eval()
optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
hvd.broadcast_parameters(actor.state_dict(), root_rank=0)
hvd.broadcast_parameters(target.state_dict(), root_rank=0)
hvd.broadcast_parameters(average.state_dict(), root_rank=0)
actor(x).sum().backward()
