# Changed: It groups what a sampler draws, by the length of that: as many batches on each rank.
# Options: --suggested

from torch.utils.data import BatchSampler, DataLoader, RandomSampler

class Grouped(BatchSampler):
    def __init__(self, sampler, groups, batch_size):
        self.sampler = sampler
        self.groups, self.batch_size = groups, batch_size

    def __iter__(self):
        batches = in_groups(self.sampler, self.groups, self.batch_size)
        return iter(batches[: len(self)])

    def __len__(self):
        return len(self.sampler) // self.batch_size

sampler = None
if args.group:
    sampler = RandomSampler(data)
    batches = Grouped(sampler, groups, 8)
loader = DataLoader(data, batch_sampler=batches)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
