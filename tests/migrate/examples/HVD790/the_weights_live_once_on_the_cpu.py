# Reported: the weights live once, on the CPU

import tensorflow as tf

strategy = tf.distribute.experimental.CentralStorageStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
