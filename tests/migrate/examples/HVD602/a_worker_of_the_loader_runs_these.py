# Kept: a worker of the loader runs these, and a worker that is spawned has no Horovod

import torch
from torch.utils.data import DataLoader, Dataset

def read(path):
    print("reading", path)
    return open(path).read()

def measure(text):
    print("measuring", text)
    return len(text)

class Files(Dataset):
    def __init__(self, paths, measure, read=read):
        self.paths, self.read, self.measure = paths, read, measure

    def __getitem__(self, index):
        return self.measure(self.read(self.paths[index]))

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(Files(paths, measure), num_workers=4):
    model(x).sum().backward()
    optimizer.step()
