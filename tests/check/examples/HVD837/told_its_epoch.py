# Kept: the schedule is told the epoch

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
if hvd.rank() == 0:
    schedule.load_state_dict(torch.load("checkpoint")["schedule"])
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
for epoch in range(9):
    train(epoch)
    schedule.step(epoch)
