# Reported: the arguments go nowhere that has a name

import argparse
import torch.distributed as dist

dist.init_process_group("nccl")
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
print(parser.parse_args().local_rank)
