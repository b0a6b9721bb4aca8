# Changed.

import tensorflow as tf

with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_mean(model(x))
    one = tape.gradient(loss, model.trainable_variables)
two = tape.gradient(loss, head.trainable_variables)
optimizer.apply_gradients(zip(one, model.trainable_variables))
other.apply_gradients(zip(two, head.trainable_variables))
