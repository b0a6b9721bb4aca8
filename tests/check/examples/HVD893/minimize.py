# Reported: a plain optimizer of TensorFlow 1

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
hvd.init()
train = tf.train.AdamOptimizer(0.001 * hvd.size()).minimize(loss)
hooks = [hvd.BroadcastGlobalVariablesHook(0)]
