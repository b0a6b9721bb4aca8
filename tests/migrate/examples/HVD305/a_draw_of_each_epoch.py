# Kept: what is drawn in each epoch, or for each sample, is each rank's own

import random
import torch
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __getitem__(self, index):
        return random.choice(self.crops[index])

for epoch in range(3):
    noise = random.sample(levels, 2)
    for x in DataLoader(Crops()):
        model(x + noise[0]).sum().backward()
        optimizer.step()
