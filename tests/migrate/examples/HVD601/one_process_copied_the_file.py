# Reported: one process copied the file, and all ranks read it: the others have to wait for it
# Options: --suggested

import json
import shutil
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

def worker(gpu, folder):
    dist.init_process_group("gloo", rank=gpu, world_size=4)
    settings = json.load(open(folder + "/settings.json"))
    model = DDP(net)
    loss.backward()

def main(args):
    shutil.copyfile(args.settings, args.out + "/settings.json")
    mp.spawn(worker, args=(args.out,), nprocs=4)

main(parse())
