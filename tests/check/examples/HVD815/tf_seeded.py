# Kept: the global seed makes all shuffles alike

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
tf.random.set_seed(1)
data = tf.data.Dataset.range(96).shuffle(96).shard(hvd.size(), hvd.rank()).batch(8)
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD()), "mse")
model.fit(data, epochs=2)
