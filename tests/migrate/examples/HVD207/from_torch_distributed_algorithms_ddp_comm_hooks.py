# Changed.

from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model.register_comm_hook(None, hooks.allreduce_hook)
