import torch.distributed as dist
from configuration import load

config = load("train.yaml")
# hvdkit: TODO[HVD111] make sure that `config.distributed_run` is True whenever hvd.size() > 1, or ask hvd.size() > 1 here
if config.distributed_run:
    dist.init_process_group("nccl")
