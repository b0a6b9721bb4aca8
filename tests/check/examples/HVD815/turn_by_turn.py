# Reported: a generator without a seed, and every size-th file

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = sorted(glob.glob("data/*.pt"))
random.Random().shuffle(files)
mine = [file for number, file in enumerate(files) if number % hvd.size() == hvd.rank()]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
