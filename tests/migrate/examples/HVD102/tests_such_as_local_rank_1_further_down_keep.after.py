import horovod.torch as hvd
import torch.distributed as dist

local_rank = hvd.local_rank() if hvd.size() > 1 else -1
world = hvd.size()
if local_rank >= 0:
    dist.init_process_group("gloo")
seed = 1 + (hvd.rank() if hvd.size() > 1 else -1)
