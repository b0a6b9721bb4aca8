# Changed: What is held back is a part of what is shuffled.
# Options: --suggested

import torch
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader

dataset = TUDataset("data", name="MUTAG").shuffle()
for x in DataLoader(dataset[:150]):
    model(x).sum().backward()
    optimizer.step()
