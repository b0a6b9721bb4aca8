# Changed: hvdkit's takes what TensorFlow's takes.
# Options: --target hvdkit

import tensorflow as tf

image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
