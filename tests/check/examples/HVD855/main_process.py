# Kept: a worker is told from the process that starts it

import multiprocessing

import horovod.torch as hvd
from torch.utils.data import DataLoader

if multiprocessing.parent_process() is None:
    hvd.init()
loader = DataLoader(data, num_workers=2, multiprocessing_context="spawn")
