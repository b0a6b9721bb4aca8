# Reported: the person waits for the processes by hand, and what else hangs on them is not known

import torch.distributed as dist
import torch.multiprocessing as mp

def worker(gpu):
    dist.init_process_group("gloo")

context = mp.spawn(worker, nprocs=2, join=False)
context.join()
