# Reported: a weighted draw cannot be divided by DistributedSampler (hvd.distribute can)

from torch.utils.data import DataLoader, WeightedRandomSampler

for x in DataLoader(data, 8, sampler=WeightedRandomSampler(weights, 100)):
    model(x).backward()
    optimizer.step()
