# Changed: minimize would make a tape of its own, whose gradients are this rank's alone.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for x, y in data:
    optimizer.minimize(lambda: tf.reduce_mean((model(x) - y) ** 2), model.trainable_variables)
