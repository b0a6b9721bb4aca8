# Reported: minimize applies what it takes

import tensorflow as tf

optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    optimizer.minimize(lambda: tf.reduce_mean(model(x)), model.trainable_variables)
model = tf.keras.Sequential([])
model.fit(x, y)
