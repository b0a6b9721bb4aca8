import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
scaler = torch.amp.GradScaler()
for x in batches:
    optimizer.zero_grad()
    scaler.scale(model(x).sum()).backward()
    optimizer.synchronize()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    with optimizer.skip_synchronize():
        scaler.step(optimizer)
    scaler.update()
