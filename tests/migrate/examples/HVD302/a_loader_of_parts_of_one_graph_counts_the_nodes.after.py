import horovod.torch as hvd
import torch
from torch_geometric.loader import LinkNeighborLoader, NeighborLoader
from torch.utils.data.distributed import DistributedSampler

options = {"batch_size": 64, "num_workers": 2}
data = dataset[0].to(device, "x", "y")
part = ("paper", data["paper"].train_mask)
sampler = DistributedSampler(
    torch.arange(data[part[0]].num_nodes)[part[1]], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True
)
loader = NeighborLoader(data, [10, 10], part, sampler=sampler, batch_size=64)
links_sampler = DistributedSampler(
    range(data[("user", "likes", "paper")].num_edges), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False
)
links = LinkNeighborLoader(data, num_neighbors=[5], edge_label_index=("user", "likes", "paper"), batch_size=64, sampler=links_sampler)
whole = NeighborLoader(data, num_neighbors=[-1], input_nodes="paper", **options)
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()
for batch in links:
    model(batch).sum().backward()
    optimizer.step()
for batch in whole:
    print(model(batch))
