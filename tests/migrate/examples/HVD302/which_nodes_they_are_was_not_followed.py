# Reported: which nodes they are was not followed

import torch
from torch_geometric.loader import NeighborLoader

def train(data, nodes, graph):
    loader = NeighborLoader(data, [10], **{'input_nodes': nodes}, batch_size=64)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

train(dataset[0].cuda(), split(), (features, edges))
