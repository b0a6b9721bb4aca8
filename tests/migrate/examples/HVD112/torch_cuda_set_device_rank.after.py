import horovod.torch as hvd
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(hvd.local_rank())
device = torch.device("cuda", hvd.local_rank())
other = torch.device("cuda:" + str(hvd.local_rank()))
model = torch.nn.Linear(1, 1).to(hvd.local_rank())
print("rank", rank)
