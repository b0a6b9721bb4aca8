# Changed: A factor that only says how much of the division comes before the sum.

from apex.parallel import DistributedDataParallel as DDP

model = DDP(net, delay_allreduce=True, gradient_predivide_factor=8.0)
