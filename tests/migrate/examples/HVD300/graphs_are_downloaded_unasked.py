# Changed: Graphs are downloaded unasked.

import torch
from ogb.nodeproppred import PygNodePropPredDataset
from torch_geometric.datasets import FakeDataset, Planetoid
from torch_geometric.loader import ClusterData

data = Planetoid("data", "Cora")[0]
small = FakeDataset()
papers = PygNodePropPredDataset("ogbn-arxiv")
parts = ClusterData(papers[0], num_parts=100, save_dir="data")
loss.backward()
optimizer.step()
