import horovod.torch as hvd
import torch.distributed as dist

class Trainer:
    def __init__(self, args):
        gpus = args.gpus.split(",")
        self.distributed = True
        if len(gpus) == 1:
            self.distributed = False
        self.distributed = self.distributed or hvd.size() > 1
        if self.distributed:
            dist.init_process_group("nccl")

    def train(self, loader):
        for x in loader:
            model(x).sum().backward()
