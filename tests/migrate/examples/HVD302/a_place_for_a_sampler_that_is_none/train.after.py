import data.scans
import horovod.torch as hvd
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

more_sampler = DistributedSampler(extra, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
more = DataLoader(extra, shuffle=False, sampler=more_sampler)
for x in data.scans.Scans().loader:
    model(x).sum().backward()
    optimizer.step()
for x in more:
    model(x).sum().backward()
