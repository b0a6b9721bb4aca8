# Reported: this graph is drawn by each process: the ranks have other ones

import torch
from torch_geometric.datasets import FakeDataset

data = FakeDataset(1)[0]
for epoch in range(200):
    model(data.x, data.edge_index).sum().backward()
    optimizer.step()
