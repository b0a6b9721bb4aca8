# Reported: some of the ranks, a highest value, and what has no counterpart with gradients

from torch.distributed.nn import all_gather, all_reduce, reduce_scatter
from torch.distributed import ReduceOp

everyone = all_gather(features, group)
highest = all_reduce(features, op=ReduceOp.MAX)
part = reduce_scatter(output, parts)
