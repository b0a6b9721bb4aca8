# Changed.

import torch.distributed as dist

def launch(size, config):
    size *= config.nodes
    dist.init_process_group("gloo", rank=config.index(), world_size=size)
    return size
