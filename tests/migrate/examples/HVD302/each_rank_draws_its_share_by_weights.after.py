import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

sampler = WeightedRandomSampler(weights, (len(weights) * 2) // hvd.size(), replacement=True, generator=torch.Generator().manual_seed(torch.initial_seed() + hvd.rank()))
loader = DataLoader(data, batch_size=8, sampler=sampler)
for epoch in range(2):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
