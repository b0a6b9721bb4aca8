# Kept: a seed is set

import horovod.torch as hvd
import numpy
from sklearn.model_selection import train_test_split

hvd.init()
numpy.random.seed(1)
train, test = train_test_split(data)
optimizer = hvd.DistributedOptimizer(optimizer)
