# Changed: Every branch of the flag stops: no half of DeepSpeed is left.
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def get_args(parser):
    args = parser.parse_args()
    if args.enable_deepspeed:
        import deepspeed
        parser = deepspeed.add_config_arguments(parser)
        start = deepspeed.initialize
    else:
        start = None
    return parser.parse_args(), start

def main(args, start, model):
    if args.enable_deepspeed:
        model, optimizer, _, _ = start(args=args, model=model)
    else:
        model = DDP(model)
