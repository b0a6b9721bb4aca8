import horovod.torch as hvd
import torch
import torch.distributed as dist

rank = dist.get_rank()
device = torch.device("cuda:{}".format(hvd.local_rank()))
other = torch.device("cuda:" + str(hvd.local_rank()))
third = torch.device(f"cuda:{hvd.local_rank()}")
model = torch.nn.Linear(2, 1).to(f"cuda:{hvd.local_rank()}").cuda(hvd.local_rank())
