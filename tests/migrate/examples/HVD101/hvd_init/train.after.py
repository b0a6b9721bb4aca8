import argparse
import horovod.torch as hvd
import torch.distributed as dist
from tools import start

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    hvd.init()
    start()
    print(args.local_rank)

if __name__ == "__main__":
    main()
