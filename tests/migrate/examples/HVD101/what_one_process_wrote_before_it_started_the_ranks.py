# Changed: What one process wrote before it started the ranks, rank 0 writes (HVD601): it is asked for.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(gpu, count):
    dist.init_process_group("gloo", rank=gpu, world_size=count)
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

def main(args):
    torch.save(vars(args), "settings.pt")
    count = torch.cuda.device_count()
    mp.spawn(worker, args=(count,), nprocs=count)

main(parse())
