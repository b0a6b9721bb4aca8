# Changed: Two answers of one function.

import torch.distributed as dist

def placed(args):
    return args.node * args.gpus + args.gpu, args.nodes * args.gpus

def main(args):
    rank, world_size = placed(args)
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
