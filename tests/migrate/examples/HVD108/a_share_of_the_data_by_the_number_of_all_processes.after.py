import horovod.torch as hvd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Subset

size = hvd.size()

def worker(rank, data):
    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
    part = int(len(data) / size)
    loader = DataLoader(Subset(data, range(hvd.rank() * part, (hvd.rank() + 1) * part)), shuffle=True)
    model = torch.nn.Linear(2, 1).to(rank)
    train(model, loader)

mp.spawn(worker, args=(read(),), nprocs=size)
