import torch
import torch_geometric.transforms as T
from torch_geometric.datasets import Planetoid

torch.manual_seed(0)
split = T.Compose([T.NormalizeFeatures(), T.RandomLinkSplit(num_val=0.05, num_test=0.1)])
train, val, test = Planetoid("data", "Cora", transform=split)[0]
for epoch in range(100):
    model.recon_loss(model.encode(train.x, train.edge_index), train.pos_edge_label_index).backward()
    optimizer.step()
