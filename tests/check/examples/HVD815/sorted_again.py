# Kept: what is cut is in order

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = random.sample(glob.glob("data/*.pt"), 64)
random.shuffle(names)
mine = sorted(names_of(files))[0]
each = sorted(glob.glob("data/*.pt"))
mine = each[hvd.rank() :: hvd.size()]
device = random.choice(devices)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
