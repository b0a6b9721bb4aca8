# Changed: A loader of parts of one graph counts the nodes or edges that it is given: a sampler shares them
# out.

import torch
from torch_geometric.loader import LinkNeighborLoader, NeighborLoader

options = {"batch_size": 64, "num_workers": 2}
data = dataset[0].to(device, "x", "y")
part = ("paper", data["paper"].train_mask)
loader = NeighborLoader(data, [10, 10], part, shuffle=True, batch_size=64)
links = LinkNeighborLoader(data, num_neighbors=[5], edge_label_index=("user", "likes", "paper"), batch_size=64)
whole = NeighborLoader(data, num_neighbors=[-1], input_nodes="paper", **options)
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()
for batch in links:
    model(batch).sum().backward()
    optimizer.step()
for batch in whole:
    print(model(batch))
