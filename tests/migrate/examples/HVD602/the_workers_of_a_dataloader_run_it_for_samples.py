# Kept: the workers of a DataLoader run it, for samples that only this rank reads

import torch

class Images(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return self.load(index)

    def load(self, index):
        print("no label for", index)
        return torch.zeros(2)

loss.backward()
