# Reported: the gradients are clipped, and never averaged

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
hvd.init()
optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001))
variables = tf.trainable_variables()
gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
train = optimizer.apply_gradients(zip(gradients, variables))
