# Changed: The script that tests comes to both functions and never calls hvd.init().

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def fit(model):
    model = DDP(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()

def ready(model):
    if torch.cuda.device_count() > 1:
        model = torch.nn.DataParallel(model)
    return model.eval()

def spread(model):
    model = torch.nn.DataParallel(model)
    return model
