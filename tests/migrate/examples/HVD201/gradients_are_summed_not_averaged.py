# Reported: gradients are summed, not averaged: the optimizer needs op=hvd.Sum

from apex.parallel import DistributedDataParallel as DDP

model = DDP(net, gradient_average=False)
