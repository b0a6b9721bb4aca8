# Changed: One function trains and evaluates: what it is called with decides which loader is for what.

import torch
from torch.utils.data import DataLoader

def run(batches, train=True, optimizer=None):
    for x in batches:
        loss = model(x).sum()
        if train:
            loss.backward()
            optimizer.step()

run(DataLoader(data))
run(DataLoader(rest), train=False)
