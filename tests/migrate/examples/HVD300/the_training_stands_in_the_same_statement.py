# Reported: the training stands in the same statement: one rank would wait in it for the others

import torch
from torch_geometric.datasets import Planetoid

def train(data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(data).sum().backward()
    optimizer.step()

train(Planetoid("data", "Cora")[0])
