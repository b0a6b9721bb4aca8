import horovod.torch as hvd
import torch
from torch_geometric.data import InMemoryDataset

class Molecules(InMemoryDataset):
    def process(self):
        torch.save(self.collate(read(self.root)), self.processed_paths[0])

if hvd.local_rank() != 0:
    hvd.barrier()
molecules = Molecules("data")
if hvd.local_rank() == 0:
    hvd.barrier()
loss.backward()
optimizer.step()
