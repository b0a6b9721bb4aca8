# Kept: A variable says that nothing is shuffled.

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

shuffled = False
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=shuffled)
loader = DataLoader(data, batch_size=8, sampler=sampler)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
