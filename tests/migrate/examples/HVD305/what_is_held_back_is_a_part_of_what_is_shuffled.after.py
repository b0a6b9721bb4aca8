import torch
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader

torch.manual_seed(0)
dataset = TUDataset("data", name="MUTAG").shuffle()
for x in DataLoader(dataset[:150]):
    model(x).sum().backward()
    optimizer.step()
