# Kept: a seed is set unless somebody says otherwise

import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=7)
args = parser.parse_args()

if args.seed >= 0:
    np.random.seed(args.seed)
data = torch.arange(100.0).reshape(100, 1)
chosen = np.random.rand(len(data)) < 0.8
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(Subset(data, np.flatnonzero(chosen)), batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
