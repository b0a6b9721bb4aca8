# Changed: Whether it shuffles is asked of the options when the script runs.

import torch
from torch.utils.data import DataLoader

options = {"batch_size": 8}
if torch.cuda.is_available():
    options.update({"num_workers": 1, "shuffle": True})
train_loader = DataLoader(data, **options)
for x in train_loader:
    model(x).sum().backward()
    optimizer.step()
