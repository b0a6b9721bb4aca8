# Reported: each rank scales by its own scale

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
scaler = torch.cuda.amp.GradScaler()
if hvd.rank() == 0:
    scaler.load_state_dict(torch.load("checkpoint")["scaler"])
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
for x in batches:
    scaler.scale(model(x).sum()).backward()
    optimizer.synchronize()
    with optimizer.skip_synchronize():
        scaler.step(optimizer)
    scaler.update()
