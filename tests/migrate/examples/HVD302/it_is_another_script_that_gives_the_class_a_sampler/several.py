import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from batches import InGroups

dist.init_process_group('gloo')
loader = DataLoader(data, batch_sampler=InGroups(DistributedSampler(data)))
