# Reported: a number of draws, or their own generator, DistributedSampler has not

from torch.utils.data import DataLoader, RandomSampler

for x in DataLoader(data, sampler=RandomSampler(data, num_samples=100), batch_size=8):
    model(x).sum().backward()
    optimizer.step()
