# Changed: One variable: Horovod's tape takes a list of them.

import tensorflow as tf

image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
