# Kept: the generator has the same seed everywhere

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = sorted(glob.glob("data/*.pt"))
random.Random(7).shuffle(files)
mine = files[hvd.rank() :: hvd.size()]
order = torch.randperm(len(data), generator=torch.Generator().manual_seed(1))
rest = order[hvd.rank() :: hvd.size()]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
