import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, size):
    dist.init_process_group('nccl', rank=rank, world_size=size)


mp.spawn(run, args=(2,), nprocs=2)
