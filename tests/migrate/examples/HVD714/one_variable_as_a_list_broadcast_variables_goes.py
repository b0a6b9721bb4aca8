# Changed: One variable, as a list: broadcast_variables goes through what it is given, and a variable gives
# its rows.

import tensorflow as tf

image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
