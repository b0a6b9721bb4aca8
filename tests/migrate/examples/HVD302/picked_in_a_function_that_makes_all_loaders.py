# Reported: One call creates the loaders of all samplers.

from torch.utils.data import DataLoader, SubsetRandomSampler


def batches(sampler):
    return DataLoader(data, batch_size=8, sampler=sampler)


loader, held_back = batches(SubsetRandomSampler(picked)), batches(SubsetRandomSampler(rest))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
    for x in held_back:
        print(model(x).sum())
