# Reported: the guard is around the rest

import horovod.torch as hvd
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

hvd.init()

if __name__ == "__main__":
    loader = DataLoader(data, num_workers=2, multiprocessing_context=mp.get_context("forkserver"))
