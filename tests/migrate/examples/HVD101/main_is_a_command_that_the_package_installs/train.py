# Changed: main() is a command that the package installs, so that the main guard is not always run.

import os
import torch.distributed as dist

class Trainer:
    def __init__(self):
        self.rank = dist.get_rank() if dist.is_initialized() else int(os.environ["RANK"])

def start():
    dist.init_process_group("nccl")

def main():
    rank = int(os.environ["RANK"])
    start()
    globals()[args.trainer]().train(rank)

if __name__ == "__main__":
    main()
