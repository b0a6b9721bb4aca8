# Changed: a seed of its own on every rank is none for all
# Options: --suggested

import horovod.torch as hvd
import numpy as np
import torch


def load(rank, size):
    x = np.load("x.npy")
    order = np.random.permutation(len(x))
    return np.array_split(x[order], size)[rank]


hvd.init()
np.random.seed(100 + hvd.rank())
mine = load(hvd.rank(), hvd.size())
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
