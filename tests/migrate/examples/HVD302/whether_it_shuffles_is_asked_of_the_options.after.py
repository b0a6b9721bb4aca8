import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

options = {"batch_size": 8}
if torch.cuda.is_available():
    options.update({"num_workers": 1, "shuffle": True})
train_sampler = DistributedSampler(
    data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=options.get("shuffle", False)
)
train_loader = DataLoader(data, **{**options, "shuffle": False, "sampler": train_sampler})
for x in train_loader:
    model(x).sum().backward()
    optimizer.step()
