# Reported: the optimizer inside has computed them

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
hvd.init()
inner = tf.train.GradientDescentOptimizer(0.001)
optimizer = hvd.DistributedOptimizer(inner)
pairs = inner.compute_gradients(loss)
train = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs])
