# Reported: Horovod gathers objects among all ranks only

import torch.distributed as dist

dist.all_gather_object(results, scores, group=group)
