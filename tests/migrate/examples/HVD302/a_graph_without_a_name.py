# Reported: a graph without a name

import torch
from torch_geometric.loader import NeighborLoader

def train(data, nodes, graph):
    loader = NeighborLoader((features, edges), [10], batch_size=64)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

train(dataset[0].cuda(), split(), (features, edges))
