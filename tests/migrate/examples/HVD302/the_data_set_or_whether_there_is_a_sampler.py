# Reported: the data set, or whether there is a sampler, is not known

import torch
from torch.utils.data import DataLoader

def train(options):
    loader = DataLoader(batch_size=4, **options)
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()

train(dict(dataset=data, sampler=sampler))
