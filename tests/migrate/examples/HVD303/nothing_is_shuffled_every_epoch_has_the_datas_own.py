# Kept: nothing is shuffled: every epoch has the data's own order

from torch.utils.data import DataLoader

loader = DataLoader(data)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
