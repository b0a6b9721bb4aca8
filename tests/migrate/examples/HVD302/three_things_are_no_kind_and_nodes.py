# Reported: three things are no kind and nodes

import torch
from torch_geometric.loader import NeighborLoader

def train(data, nodes, graph):
    loader = NeighborLoader(data, [10], ('paper', 1, 2), batch_size=64)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

train(dataset[0].cuda(), split(), (features, edges))
