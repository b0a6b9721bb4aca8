# Reported: an iterable data set takes no sampler

from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter(read())

for x in DataLoader(Stream(), batch_size=8):
    model(x).backward()
    optimizer.step()
