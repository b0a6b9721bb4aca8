import horovod.torch as hvd
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(torch.device("cuda", hvd.local_rank()))
print(hvd.rank())
