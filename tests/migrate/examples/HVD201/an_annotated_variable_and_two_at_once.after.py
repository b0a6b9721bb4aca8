import horovod.torch as hvd
import torch

model: torch.nn.Module = torch.nn.Linear(2, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
net = torch.nn.Linear(2, 1)
net = other = net
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
