# Changed: The gradient is taken while the tape records: wrapped inside, it would refuse.

import tensorflow as tf

for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
