# Changed: The indices may be a variable.

from torch.utils.data import DataLoader, SubsetRandomSampler

loader = DataLoader(data(), batch_size=8, sampler=SubsetRandomSampler(indices))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
