# Changed: the order of a set of texts is another in each process

import torch
from torch.utils.data import DataLoader

words = set(open("words.txt").read().split())
vocabulary = {word: number for number, word in enumerate(words)}
labels = sorted(list(words))
classes = list(set(range(10)))
for x in DataLoader(data):
    model(x).sum().backward()
    optimizer.step()
