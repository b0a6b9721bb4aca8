import torch.distributed as dist

def setup():
    dist.init_process_group()
