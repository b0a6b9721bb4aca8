# Changed: The options become a dictionary: all ranks of a host would take the first device.

import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", dest="local_rank", type=int, default=0)
args = parser.parse_args()
args = vars(args)
args = {key: value for key, value in args.items() if value is not None}
torch.cuda.set_device(args["local_rank"])
dist.init_process_group("nccl")
