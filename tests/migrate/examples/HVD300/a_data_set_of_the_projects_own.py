# Changed: A data set of the project's own: what it downloads and saves inside, the other processes find.

import os
import torch
from torch.utils.data import Dataset
from torchvision.datasets import MNIST

class Coloured(Dataset):
    def __init__(self, root, download=False):
        self.root = root
        if download:
            self.download()

    def download(self):
        if not os.path.exists(self.root):
            torch.save(colours(MNIST(self.root, download=True)), self.root + "/coloured.pt")

rest = Coloured("rest")
data = Coloured("data", download=True)
model(data[0]).sum().backward()
optimizer.step()
