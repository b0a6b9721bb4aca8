# Kept: rank 0 has other rows

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

hvd.init()
if hvd.rank() == 0:
    x = np.zeros((64, 4))
else:
    x = np.ones((64, 4))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
model.fit(x, np.ones((64, 1)), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
