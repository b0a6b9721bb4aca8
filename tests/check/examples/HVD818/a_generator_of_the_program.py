# Kept: what a generator gives may be a share already

import horovod.tensorflow.keras as hvd
import tensorflow as tf

from graphs import Sampler

hvd.init()
data = tf.data.Dataset.from_generator(Sampler("graph"), output_signature=tf.TensorSpec((4,))).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
