import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def build(args):
    model = DDP(torch.nn.Linear(2, 1))
    if args.old:
        optimizer = torch.optim.__dict__[args.opt](model.parameters(), args.lr)
    elif args.plain:
        optimizer = torch.optim.SGD(model.parameters(), args.lr)
    else:
        optimizer = getattr(torch.optim, args.opt)(model.parameters(), args.lr)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    return model, optimizer
