# Kept: the ranks share each batch

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
data = tf.data.Dataset.range(640).shard(hvd.size(), hvd.rank()).repeat().batch(8 // hvd.size())
model.fit(data, steps_per_epoch=640 // 8, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
