import argparse
import horovod.torch as hvd
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=hvd.local_rank())
parser.add_argument("--tag", default=str(hvd.local_rank()))
dist.init_process_group("nccl")
