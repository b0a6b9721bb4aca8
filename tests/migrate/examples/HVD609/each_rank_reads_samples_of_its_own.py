# Kept: each rank reads samples of its own

import os
import torch

class Data(torch.utils.data.Dataset):
    def __getitem__(self, index):
        os.remove(f"{index}.lock")
        return index

for x in torch.utils.data.DataLoader(Data()):
    model(x).sum().backward()
    optimizer.step()
