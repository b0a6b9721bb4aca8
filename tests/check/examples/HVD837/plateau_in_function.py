# Reported: the function that loads it is called on rank 0 alone

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)


def resume(path):
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model"])
    schedule.load_state_dict(checkpoint["schedule"])


if hvd.rank() == 0:
    resume("checkpoint")
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
for epoch in range(9):
    schedule.step(hvd.allreduce(train(epoch)))
