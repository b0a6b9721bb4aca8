# Changed: argparse makes a number of the text itself.

import argparse
import os
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=os.getenv("LOCAL_RANK", 0))
parser.add_argument("--tag", default=os.getenv("LOCAL_RANK", "0"))
dist.init_process_group("nccl")
