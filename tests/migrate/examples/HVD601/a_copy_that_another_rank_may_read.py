# Reported: a copy that another rank may read
# Options: --suggested

import shutil
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

def keep(settings, name, folder):
    shutil.copyfile(settings, f"{folder}/{name}")

def worker(gpu, count):
    dist.init_process_group("gloo", rank=gpu, world_size=count)
    model = DDP(net)
    loss.backward()

def main(args):
    keep(args.settings, "settings.yaml", args.out)
    mp.spawn(worker, args=(4,), nprocs=4)

main(parse())
