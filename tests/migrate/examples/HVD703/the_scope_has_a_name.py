# Reported: the scope has a name

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope() as scope:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(x, y)
