import horovod.torch as hvd
import torch.distributed as dist

def placed(args):
    return hvd.rank(), hvd.size()

def main(args):
    rank, world_size = placed(args)
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
