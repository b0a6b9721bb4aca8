# Changed: What is asked about the list stays as it is.

import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

workers = []
for rank in range(2):
    worker = Process(target=run, args=(rank, 2))
    worker.start()
    workers.append(worker)
for worker in workers:
    worker.join()
print(len(workers))
