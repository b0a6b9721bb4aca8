# Reported: one process without a loop: what else waits for it is not known

import torch.distributed as dist
from multiprocessing import Process

def run(rank):
    dist.init_process_group("gloo", rank=rank, world_size=1)

p = Process(target=run, args=(0,))
p.start()
