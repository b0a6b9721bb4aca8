import os
import horovod.torch as hvd
import torch.distributed as dist

class Trainer:
    def __init__(self):
        self.rank = dist.get_rank() if dist.is_initialized() else int(os.environ["RANK"])

def start():
    pass

def main():
    hvd.init()
    rank = int(os.environ["RANK"])
    start()
    globals()[args.trainer]().train(rank)

if __name__ == "__main__":
    main()
