# Reported: random numbers choose the nodes, alike on all ranks

import torch
from torch_geometric.datasets import Planetoid

torch.manual_seed(1)
data = Planetoid("data", "Cora")[0]
for epoch in range(200):
    nodes = torch.randperm(data.num_nodes)[:64]
    model(data.x, data.edge_index)[nodes].sum().backward()
    optimizer.step()
