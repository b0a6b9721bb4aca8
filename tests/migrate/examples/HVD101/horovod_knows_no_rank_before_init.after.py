import os
import horovod.torch as hvd
import torch

def main():
    hvd.init()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    train(local_rank)
