import horovod.torch as hvd
import torch

net = torch.compile(net)
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
