# Changed: A distributed script that shares nothing out gets the sampler by HVD302's suggestion.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
loader = DataLoader(data, shuffle=True)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
