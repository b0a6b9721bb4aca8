# Changed: on another host the same folder may be listed in another order

import glob
import os
from pathlib import Path

import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, folder, masks):
        self.names = os.listdir(folder)
        self.masks = [mask for mask in masks]
        self.classes = sorted(os.listdir("classes"))
        others = os.listdir("others")
        others.sort()
        self.others = others

    def __getitem__(self, n):
        return torch.load(self.names[n])

    def __len__(self):
        return len(os.listdir("others"))


masks = []
for mask in Path("masks").glob("*.png"):
    masks.append(mask)
paths = glob.glob("images/*.png")
train, test = train_test_split([os.path.basename(path) for path in paths], random_state=1)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(Images("images", masks), batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
for x in DataLoader(train, batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
for old in glob.glob("*.tmp"):
    os.remove(old)
