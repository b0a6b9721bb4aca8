# Reported: what something else has may be such a pair

import torch
from torch_geometric.loader import NeighborLoader

def train(data, nodes, graph):
    loader = NeighborLoader(data, [10], table.nodes, batch_size=64)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

train(dataset[0].cuda(), split(), (features, edges))
