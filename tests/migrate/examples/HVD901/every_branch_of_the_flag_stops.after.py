import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def get_args(parser):
    args = parser.parse_args()
    if args.enable_deepspeed:
        raise SystemExit("args.enable_deepspeed: deepspeed does not run under Horovod")
    else:
        start = None
    return parser.parse_args(), start

def main(args, start, model):
    if args.enable_deepspeed:
        raise SystemExit("args.enable_deepspeed: deepspeed does not run under Horovod")
    else:
        model = DDP(model)
