# Reported: Horovod's compression rounds at another place

from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model.register_comm_hook(state=None, hook=fp16_compress_hook)
