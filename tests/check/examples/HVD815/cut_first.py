# Kept: each rank shuffles what it has cut

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = sorted(glob.glob("data/*.pt"))
files = files[hvd.rank() :: hvd.size()]
random.shuffle(files)
order = torch.randperm(len(files))
files = [files[number] for number in order]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
