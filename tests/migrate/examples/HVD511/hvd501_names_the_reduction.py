# Changed: HVD501 names the reduction. What is gathered would be computed twice: it needs a variable.

import torch
import torch.distributed.nn.functional as F

mean = F.all_reduce(x, op=torch.distributed.ReduceOp.AVG)
everyone = torch.cat(F.all_gather(head(x)))
