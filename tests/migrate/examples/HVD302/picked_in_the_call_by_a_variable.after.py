import horovod.torch as hvd
from torch.utils.data import DataLoader
from torch.utils.data import Subset
from torch.utils.data.distributed import DistributedSampler

loader = DataLoader(Subset(data(), indices), batch_size=8, sampler=DistributedSampler(indices, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
