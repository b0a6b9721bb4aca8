import horovod.torch as hvd
import torch.distributed as dist

def run(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if __name__ == "__main__":
    size = 2
    run(hvd.local_rank(), size)
