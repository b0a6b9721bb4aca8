# Changed: timm makes the group of the launcher's variables, and writes the ranks into args.

import torch
from timm import utils

def main(args):
    device = utils.init_distributed_device(args)
    if args.rank == 0:
        torch.save(model.state_dict(), "model.pt")
