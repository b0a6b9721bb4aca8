# Kept: nothing is resumed: every rank takes the same step from the same weights

import horovod.torch as hvd
import torch

hvd.init()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
