# Reported: which argument is the tensor cannot be seen

import torch.distributed as dist

dist.all_reduce(*arguments)
