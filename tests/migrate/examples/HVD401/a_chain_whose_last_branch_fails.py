# Changed: A chain whose last branch fails; HVD411 sees to the object around it.

import torch
from timm.optim import AdamP, Lookahead
from torch.nn.parallel import DistributedDataParallel as DDP

def create_optimizer(args, model):
    if args.opt == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    elif args.opt == "adamp":
        optimizer = AdamP(model.parameters(), lr=args.lr)
    else:
        assert False and "Invalid optimizer"
    if args.lookahead:
        optimizer = Lookahead(optimizer)
    return optimizer

model = torch.nn.Linear(2, 1)
optimizer = create_optimizer(args, model)
model = DDP(model)
