# Kept: it is a Horovod program already

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf

hvd.init()
with tf.Session() as session:
    session.run(train_op)
