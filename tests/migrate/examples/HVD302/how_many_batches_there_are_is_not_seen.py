# Reported: how many batches there are is not seen
# Options: --suggested

from torch.utils.data import BatchSampler, DataLoader, RandomSampler

class Grouped(BatchSampler):
    def __init__(self, sampler, groups, batch_size):
        self.sampler = sampler
        self.groups, self.batch_size = groups, batch_size

    def __iter__(self):
        batches = in_groups(self.sampler, self.groups, self.batch_size)
        return iter(batches)

    def __len__(self):
        return len(self.sampler) // self.batch_size

loader = DataLoader(data, batch_sampler=Grouped(RandomSampler(data), groups, 8))
for x in loader:
    model(x).sum().backward()
    optimizer.step()
