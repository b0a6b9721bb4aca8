# Changed: Made and started in one line; Python waits for them at its end.

import multiprocessing as mp
import torch.distributed as dist

def run(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if __name__ == "__main__":
    size = 2
    for rank in range(size):
        mp.Process(target=run, args=(rank, size)).start()
