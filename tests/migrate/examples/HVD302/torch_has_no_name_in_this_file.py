# Reported: torch has no name in this file

import os
from torch_geometric.loader import NeighborLoader

def train(data, nodes, graph):
    loader = NeighborLoader(data, [10], data.train_mask, batch_size=64)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

train(dataset[0].cuda(), split(), (features, edges))
