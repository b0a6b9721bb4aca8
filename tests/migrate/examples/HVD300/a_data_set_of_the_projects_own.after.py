import os
import horovod.torch as hvd
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
if hvd.local_rank() != 0:
    hvd.barrier()
data = Coloured("data", download=True)
if hvd.local_rank() == 0:
    hvd.barrier()
model(data[0]).sum().backward()
optimizer.step()
