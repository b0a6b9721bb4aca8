# Kept: rank 0 shuffles, and the others get its order

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = glob.glob("data/*.pt")
random.shuffle(files)
files = hvd.broadcast_object(files, root_rank=0)
mine = files[hvd.rank() :: hvd.size()]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
