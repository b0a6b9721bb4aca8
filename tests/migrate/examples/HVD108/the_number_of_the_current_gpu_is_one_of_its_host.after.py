import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp

def work(gpu, count, several):
    if several:
        rank = hvd.rank()
    else:
        rank = gpu
    if several:
        dist.init_process_group("nccl", rank=rank, world_size=count * nodes())

count, device = hvd.local_size(), hvd.local_rank()
if several():
    mp.spawn(work, args=(count, True), nprocs=count)
else:
    work(device, count, False)
