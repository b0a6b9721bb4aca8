# Changed: Of Keras 3's variables Horovod sends the value only, so they take it one by one.
# Options: --target hvdkit

import tensorflow as tf

image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
