# Reported: no file that is seen sets the configuration's rank: whoever started the processes did

import torch.distributed as dist

def start(config):
    dist.init_process_group("nccl", rank=config.dist.rank, world_size=config.dist.size)
    return config.dist.rank == 0
