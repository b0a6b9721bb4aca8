import horovod.torch as hvd
import torch.distributed as dist

if hvd.size() > 1:
    dist.init_process_group("nccl")
if hvd.size() == 1:
    print("alone")
if hvd.size() > 1:
    print("launched")
if hvd.size() == 1:
    print("alone")
if hvd.size() > 1:
    print("launched")
print("launched" if hvd.size() > 1 else "alone")
