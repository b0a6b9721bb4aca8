from random import shuffle

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader

files = [f"{n}.pt" for n in range(100)]
shuffle(files)
files = hvd.broadcast_object(files, root_rank=0)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader([torch.load(file) for file in files[:80]], batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
