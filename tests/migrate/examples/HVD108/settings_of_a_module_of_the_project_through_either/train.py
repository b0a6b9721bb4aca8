# Changed: Settings of a module of the project, through either form of import.

import torch.distributed as dist
import config
from config import WORLD_SIZE

if __name__ == "__main__":
    config.RANK = config.NODE * 8 + config.GPU
    dist.init_process_group("nccl", rank=config.RANK, world_size=WORLD_SIZE)
    print(config.RANK == 0)
