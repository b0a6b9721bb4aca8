# Changed: The project's own, which prepare files of their own.

import torch
from torch_geometric.data import InMemoryDataset

class Molecules(InMemoryDataset):
    def process(self):
        torch.save(self.collate(read(self.root)), self.processed_paths[0])

molecules = Molecules("data")
loss.backward()
optimizer.step()
