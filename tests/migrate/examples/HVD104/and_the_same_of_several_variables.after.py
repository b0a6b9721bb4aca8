import horovod.torch as hvd
import torch.distributed as dist

if hvd.size() > 1:
    dist.init_process_group("nccl")
elif not (hvd.size() > 1):
    print("alone")
