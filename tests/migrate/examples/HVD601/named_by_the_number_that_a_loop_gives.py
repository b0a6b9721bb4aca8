# Kept: ... named by the number that a loop gives to each process
# Options: --suggested

import torch
import torch.distributed as dist
from torch.multiprocessing import Process

def run(rank, args):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    path = "samples_%d.pt" % args.local_rank
    torch.save(samples, path)

args = parser.parse_args()
for rank in range(2):
    args.local_rank = rank
    Process(target=run, args=(rank, args)).start()
