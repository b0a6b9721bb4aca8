import horovod.torch as hvd
import torch.distributed as dist
import config
from config import WORLD_SIZE

if __name__ == "__main__":
    config.RANK = hvd.rank()
    dist.init_process_group("nccl", rank=config.RANK, world_size=WORLD_SIZE)
    print(config.RANK == 0)
