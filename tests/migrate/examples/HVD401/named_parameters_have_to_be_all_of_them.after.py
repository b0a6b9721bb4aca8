import horovod.torch as hvd
import torch

def make(encoder, prototypes):
    groups = [{"params": encoder.parameters()}]
    if prototypes is not None:
        groups.append({"params": [prototypes], "weight_decay": 0})
    optimizer = torch.optim.AdamW(groups)
    optimizer = hvd.DistributedOptimizer(optimizer)
    return optimizer, len(groups)

encoder = torch.nn.Linear(2, 1)
optimizer, count = make(encoder, torch.nn.Parameter(torch.ones(2)))
encoder(x).sum().backward()
