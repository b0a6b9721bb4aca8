# Reported: the loop does more than start processes, or is no loop over range

import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

def counted():
    processes = []
    for rank in range(2):
        p = Process(target=run, args=(rank, 2))
        p.start()
        print(p.pid)
        processes.append(p)
    for p in processes:
        p.join()

def listed(ranks):
    for rank in ranks:
        p = Process(target=run, args=(rank, 2))
        p.start()
    for p in processes:
        p.join()

def unwaited():
    for rank in range(2):
        p = Process(target=run, args=(rank, 2))
        p.start()
    print("started")

def computed():
    processes = []
    for rank in range(2):
        p = Process(target=run, args=(rank + 1, 2))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()

def kept():
    processes = []
    for rank in range(2):
        p = Process(target=run, args=(rank, 2))
        p.start()
        last = rank
    for p in processes:
        p.join()

def assigned():
    for rank in range(2):
        p = Process(target=run, args=(rank, 2))
        p.start()
    for p in processes:
        code = p.exitcode

def prepared():
    for rank in range(2):
        prepare(rank)
        p = Process(target=run, args=(rank, 2))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()

def long():
    for rank in range(2):
        args.local_rank = rank
        p = Process(target=run,
                    args=(rank, 2))
        p.start()
    for p in processes:
        p.join()
