# Reported: a graph of TensorFlow 1

import tensorflow.compat.v1 as tf

train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(train_op)
