# Reported: another seed on every rank is no better

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
data = tf.data.Dataset.range(96).shuffle(96, seed=hvd.rank()).shard(hvd.size(), hvd.rank()).batch(8)
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD()), "mse")
model.fit(data, epochs=2)
