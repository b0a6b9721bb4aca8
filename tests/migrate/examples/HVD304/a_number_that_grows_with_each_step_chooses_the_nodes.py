# Reported: a number that grows with each step chooses the nodes

import torch
from torch_geometric.datasets import Planetoid

data = Planetoid("data", "Cora")[0]
at = 0
for step in range(200):
    model(data.x, data.edge_index)[at : at + 8].sum().backward()
    optimizer.step()
    at += 8
