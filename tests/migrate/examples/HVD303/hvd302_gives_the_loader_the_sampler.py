# Changed: HVD302 gives the loader the sampler.

from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
