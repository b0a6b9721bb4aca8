import horovod.torch as hvd
from torch.utils.data import BatchSampler, DataLoader
from torch.utils.data.distributed import DistributedSampler

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
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
    batches = Grouped(sampler, groups, 8)
loader = DataLoader(data, batch_sampler=batches)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
