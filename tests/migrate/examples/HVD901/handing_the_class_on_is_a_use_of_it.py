# Reported: handing the class on is a use of it

from functools import partial
from torch.distributed.fsdp import FullyShardedDataParallel

wrap = partial(FullyShardedDataParallel, device_id=0)
