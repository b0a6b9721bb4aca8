# Changed: a sample that a mean is computed from, in a program that seeds torch alone

import random
import torch
from torch.utils.data import DataLoader

def target_mean(data):
    some = [data[i][1] for i in random.sample(range(len(data)), 50)]
    return torch.stack(some).mean()

torch.manual_seed(0)
mean = target_mean(data)
for x, y in DataLoader(data, batch_size=50):
    (model(x) - y + mean).pow(2).mean().backward()
    optimizer.step()
