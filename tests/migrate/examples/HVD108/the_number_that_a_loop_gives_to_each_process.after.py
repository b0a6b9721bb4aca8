import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DistributedSampler

def run(rank, size, several):
    if several:
        dist.init_process_group("gloo", rank=rank, world_size=size)
    if hvd.rank() == 0:
        print("started")
    sampler = DistributedSampler(range(8), num_replicas=size, rank=hvd.rank())

if __name__ == "__main__":
    workers = []
    for i in range(2):
        worker = mp.Process(target=run, args=(i, hvd.size(), True))
        workers.append(worker)
        worker.start()
    for worker in workers:
        worker.join()
