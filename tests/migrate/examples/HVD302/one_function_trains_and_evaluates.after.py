import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def run(batches, train=True, optimizer=None):
    for x in batches:
        loss = model(x).sum()
        if train:
            loss.backward()
            optimizer.step()

run(DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)))
run(DataLoader(rest), train=False)
