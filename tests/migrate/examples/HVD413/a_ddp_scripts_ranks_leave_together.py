# Changed: A DDP script's ranks leave together where that is asked for.
# Options: --suggested

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
