import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def start():
    dist.init_process_group('nccl')
    torch.cuda.set_device(dist.get_rank())


def wrap(net, distributed):
    return DDP(net) if distributed else net
