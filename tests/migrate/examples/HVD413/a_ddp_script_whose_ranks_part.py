# Reported: the ranks of a DDP script part by losses of their own already: what they do about it is asked for

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    if loss < 0.1:
        break
