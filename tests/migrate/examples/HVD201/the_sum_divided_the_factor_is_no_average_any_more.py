# Reported: the sum, divided: the factor is no average any more

from apex.parallel import DistributedDataParallel as DDP

model = DDP(net, gradient_average=False, gradient_predivide_factor=2.0)
