# Reported: the functions are handed on, which is a use as well

import torch.distributed as dist

work = [dist.P2POp(dist.isend, tensor, 1), dist.P2POp(dist.irecv, other, 1)]
dist.batch_isend_irecv(work)
