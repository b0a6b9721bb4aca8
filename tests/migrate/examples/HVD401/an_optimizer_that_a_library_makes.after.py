import horovod.torch as hvd
import torch
from timm.optim import create_optimizer, param_groups_weight_decay
from torch.nn.parallel import DistributedDataParallel as DDP

def main(args):
    model = DDP(torch.nn.Linear(2, 1))
    if args.timm:
        optimizer = create_optimizer(args, model)
    else:
        groups = param_groups_weight_decay(model, args.weight_decay)
        optimizer = torch.optim.AdamW(groups, lr=args.lr)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
