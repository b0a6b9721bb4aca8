import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def fit(model):
    model = DDP(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()

def ready(model):
    return model.eval()

def spread(model):
    if hvd.is_initialized():
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    return model
