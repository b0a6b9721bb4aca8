# Reported: it is required, in requirements.txt

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.Adam())
