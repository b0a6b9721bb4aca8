# Reported: the mask is on another device than the numbers of nodes would be

import torch
from torch_geometric.loader import NeighborLoader

data = dataset[0].to(device)
loader = NeighborLoader(data, [10], data.train_mask, batch_size=64)
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()
