# Reported: the number of the round chooses the nodes: those are batches

import torch
from torch_geometric.datasets import Planetoid
from tqdm import tqdm

data = Planetoid("data", "Cora")[0]
rounds = tqdm(range(200))
for epoch in rounds:
    nodes = data.train_mask.nonzero()[epoch * 8 : epoch * 8 + 8]
    model(data.x, data.edge_index)[nodes].sum().backward()
    optimizer.step()
