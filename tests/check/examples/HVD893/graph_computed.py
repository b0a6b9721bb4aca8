# Kept: the wrapper computes the gradients that are clipped

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
hvd.init()
optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001))
pairs = optimizer.compute_gradients(loss, tf.trainable_variables())
train = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs])
look = tf.gradients(loss, inputs)
