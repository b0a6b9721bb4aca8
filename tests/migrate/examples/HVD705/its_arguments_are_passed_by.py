# Reported: its arguments are passed by *

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
total = strategy.reduce(*arguments)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
