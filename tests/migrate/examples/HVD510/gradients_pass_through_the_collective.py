# Reported: gradients pass through the collective, as torch.distributed.nn has it

from torch.distributed import ReduceOp
from torch.distributed.nn.functional import all_gather, all_reduce

everyone = all_gather(features)
highest = all_reduce(features, op=ReduceOp.MAX)
