# Kept: a forked worker imports nothing, and without workers there is none

import horovod.torch as hvd
from torch.utils.data import DataLoader

hvd.init()
loader = DataLoader(data, num_workers=2)
other = DataLoader(data, num_workers=2, multiprocessing_context="fork")
alone = DataLoader(data, num_workers=0, multiprocessing_context=None)
