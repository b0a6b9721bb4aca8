# Kept: each step computes the whole graph: no batch is drawn, and nothing can be divided

import torch
from torch_geometric.datasets import Planetoid

data = Planetoid("data", "Cora")[0]

def train(x, edges):
    loss = torch.nn.functional.cross_entropy(model(x, edges)[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()

for epoch in range(200):
    train(data.x, data.edge_index)
    print(f"epoch {epoch}")
