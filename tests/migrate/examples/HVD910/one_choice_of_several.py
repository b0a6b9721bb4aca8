# Reported: one choice of several: told with a marker, and the others are migrated

import torch
from apex.optimizers import FusedAdam
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
if args.opt == "adam":
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
elif args.opt == "fusedadam":
    optimizer = FusedAdam(model.parameters(), lr=0.1, adam_w_mode=False)
elif args.opt == "fusedadamw":
    optimizer = FusedAdam(model.parameters(), lr=0.1, adam_w_mode=True)
loss.backward()
optimizer.step()
