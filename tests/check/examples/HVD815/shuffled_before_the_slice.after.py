import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
files = glob.glob("data/*.pt")
random.Random(0).shuffle(files)
mine = files[hvd.rank() :: hvd.size()]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
