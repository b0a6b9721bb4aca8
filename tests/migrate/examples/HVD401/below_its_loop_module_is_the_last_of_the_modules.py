# Changed: Below its loop, `module` is the last of the modules.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(Net())
groups = []
for module in [model.module.body, model.module.neck]:
    groups.append(dict(params=module.parameters(), lr=0.01))
for module in [model.module.head]:
    groups.append(dict(params=module.parameters(), lr=0.1))
optimizer = torch.optim.SGD(groups, lr=0.01)
