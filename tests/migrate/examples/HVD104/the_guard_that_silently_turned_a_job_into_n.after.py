import horovod.torch as hvd
import torch.distributed as dist

ddp = hvd.size() > 1
alone = not (hvd.size() > 1) or hvd.size() == 1
if ddp:
    dist.init_process_group("nccl")
