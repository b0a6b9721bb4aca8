# Kept: HVD302 cannot give this loader a sampler, and the one it has takes no epoch

from torch.utils.data import DataLoader

loader = DataLoader(data, 8, True, None)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
