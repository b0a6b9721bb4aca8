import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def make(parameters, args):
    Kind = torch.optim.SGD if args.sgd else torch.optim.Adam
    optimizer: torch.optim.Optimizer = Kind(parameters, lr=args.lr)
    return optimizer

def trainable(net):
    return [p for p in net.parameters() if p.requires_grad]

def main(args):
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = make(trainable(model) if args.freeze else model.parameters(), args)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
