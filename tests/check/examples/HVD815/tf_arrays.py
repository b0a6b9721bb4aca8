# Reported: the rows of an array, in another order on every rank

import numpy as np
import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
order = np.random.permutation(len(x))
x, y = x[order], y[order]
x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD()), "mse")
model.fit(x, y, epochs=2)
