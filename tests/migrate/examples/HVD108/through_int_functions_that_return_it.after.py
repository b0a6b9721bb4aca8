import os
import horovod.torch as hvd
import torch.distributed as dist

def world():
    return int(os.environ["WORLD_SIZE"])

def slurm():
    node, local = int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_LOCALID"])
    rank = hvd.rank()
    return rank

def main():
    rank, device = slurm(), 0
    dist.init_process_group("nccl", rank=int(rank), world_size=world())

main()
