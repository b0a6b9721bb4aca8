# Reported: the optimizer's state is sent, its schedule's is not

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
if hvd.rank() == 0:
    checkpoint = torch.load("checkpoint")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    schedule.load_state_dict(checkpoint["schedule"])
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
for epoch in range(9):
    train(epoch)
    schedule.step()
