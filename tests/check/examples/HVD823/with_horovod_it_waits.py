# Kept: with Horovod it waits, and what does not wait runs without

import horovod.torch as hvd
import torch

def step():
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.horovod:
    hvd.init()
    optimizer = hvd.DistributedOptimizer(optimizer)
for x in batches:
    model(x).sum().backward()
    if args.horovod:
        optimizer.synchronize()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with optimizer.skip_synchronize():
            optimizer.step()
    else:
        step()
    optimizer.zero_grad()
    loss = model(x).sum()
    if not args.horovod:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
