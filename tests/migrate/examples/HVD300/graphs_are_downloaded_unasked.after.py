import horovod.torch as hvd
import torch
from ogb.nodeproppred import PygNodePropPredDataset
from torch_geometric.datasets import FakeDataset, Planetoid
from torch_geometric.loader import ClusterData

if hvd.local_rank() != 0:
    hvd.barrier()
data = Planetoid("data", "Cora")[0]
if hvd.local_rank() == 0:
    hvd.barrier()
small = FakeDataset()
if hvd.local_rank() != 0:
    hvd.barrier()
papers = PygNodePropPredDataset("ogbn-arxiv")
parts = ClusterData(papers[0], num_parts=100, save_dir="data")
if hvd.local_rank() == 0:
    hvd.barrier()
loss.backward()
optimizer.step()
