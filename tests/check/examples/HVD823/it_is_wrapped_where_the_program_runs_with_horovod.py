# Reported: it is wrapped where the program runs with Horovod, and clipped all the same

import horovod.torch as hvd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.horovod:
    hvd.init()
    optimizer = hvd.DistributedOptimizer(optimizer)
for x in batches:
    model(x).sum().backward()
    if args.clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    optimizer.step()
