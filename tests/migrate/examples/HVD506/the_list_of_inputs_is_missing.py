# Reported: the list of inputs is missing

import torch.distributed as dist

dist.reduce_scatter(output)
