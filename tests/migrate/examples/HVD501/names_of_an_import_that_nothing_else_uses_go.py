# Changed: Names of an import that nothing else uses go, wherever they stand in it.

import torch
from torch.distributed import all_reduce, barrier, get_rank
from torch.distributed import (
    broadcast,
    all_reduce as reduce_all,
)

all_reduce(x)
reduce_all(x)
if get_rank() == 0:
    barrier()
broadcast(x, 0)
