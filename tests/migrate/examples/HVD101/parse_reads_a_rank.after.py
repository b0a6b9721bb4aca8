import argparse
import os
import horovod.torch as hvd

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    print("rank", os.environ["RANK"])
    return parser.parse_args()

def main():
    hvd.init()
    args = parse()
    print(args.local_rank)

main()
