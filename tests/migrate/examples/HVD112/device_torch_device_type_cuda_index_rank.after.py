import horovod.torch as hvd
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device(type="cuda", index=hvd.local_rank())
