# Kept: every rank reads the file right after its data set has been processed

import torch
from torch_geometric.data import InMemoryDataset

class Molecules(InMemoryDataset):
    def __init__(self, root):
        super().__init__(root)
        self.data, self.slices = torch.load(self.processed_paths[0])

    def process(self):
        torch.save(self.collate(read(self.root)), self.processed_paths[0])

molecules = Molecules("data")
loss.backward()
optimizer.step()
