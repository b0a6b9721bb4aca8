# Changed: apex unscales averages when the `with` ends, and steps its own copies of the parameters.

import torch
from apex import amp
from torch.nn.parallel import DistributedDataParallel as DDP

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
model = DDP(model)
for x in batches:
    with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
