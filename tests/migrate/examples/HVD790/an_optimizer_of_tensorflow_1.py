# Reported: TensorFlow 1's optimizers count no steps, after the first of which the broadcast would come.

import tensorflow as tf

optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
for x, y in data:
    optimizer.minimize(lambda: tf.reduce_mean((model(x) - y) ** 2), var_list=model.trainable_variables)
