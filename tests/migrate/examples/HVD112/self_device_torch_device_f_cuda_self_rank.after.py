import os
import horovod.torch as hvd
import torch
import torch.distributed as dist

class Run:
    def __init__(self):
        self.rank = int(os.environ["RANK"])
        dist.init_process_group("nccl", rank=self.rank)
        self.device = torch.device(f"cuda:{hvd.local_rank()}")
        self.model = torch.nn.Linear(1, 1).cuda(hvd.local_rank())
