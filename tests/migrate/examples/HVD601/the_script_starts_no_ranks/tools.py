import torch.distributed as dist

VERSION = 1


def start():
    dist.init_process_group('gloo')
