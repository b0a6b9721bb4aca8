# Reported: DataParallel by hand: what calls it is for the person to put right

import torch

def spread(model, *given):
    devices = list(range(torch.cuda.device_count()))
    replicas = torch.nn.parallel.replicate(model, devices)
    parts = torch.nn.parallel.scatter(given, devices)
    return torch.nn.parallel.gather(torch.nn.parallel.parallel_apply(replicas, parts), devices[0])

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
spread(model, x).sum().backward()
optimizer.step()
