# Changed: What is made ready for each process stays, and runs once.

import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, size, args):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if size > 1:
    processes = []
    for rank in range(size):
        args.local_rank = rank
        global_rank = rank + args.node * size
        # of all hosts
        print("rank", global_rank)
        p = Process(target=run, args=(global_rank, args.nodes * size, args))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
else:
    run(0, 1, args)
