# Kept: a schedule's steps would have to change, too
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)
model.compile(tf.keras.optimizers.SGD(rate), 'mse')
model.fit(data)
