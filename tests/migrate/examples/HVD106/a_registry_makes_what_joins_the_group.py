# Reported: a registry that a decorator fills gives the class whose object makes the process group: each
# rank would start processes of its own

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

TRAINERS = {}

def register(name):
    def decorator(cls):
        TRAINERS[name] = cls
        return cls
    return decorator

@register("base")
class Trainer:
    def __init__(self, rank, config):
        dist.init_process_group("nccl", world_size=config["gpus"], rank=rank)

def worker(rank, config):
    TRAINERS[config["trainer"]](rank, config)

if __name__ == "__main__":
    config = {"trainer": "base", "gpus": torch.cuda.device_count()}
    mp.spawn(worker, args=(config,), nprocs=config["gpus"])
