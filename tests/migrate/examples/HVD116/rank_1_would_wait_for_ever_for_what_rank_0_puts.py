# Reported: rank 1 would wait for ever for what rank 0 puts into a queue of its own

import torch.distributed as dist
import torch.multiprocessing as mp

def run(rank, tasks, seen):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    if rank == 0:
        tasks.put("start")
    seen[rank] = tasks.get()

if __name__ == "__main__":
    tasks = mp.get_context("spawn").Queue()
    with mp.Manager() as manager:
        mp.spawn(run, args=(tasks, manager.dict()), nprocs=2)
