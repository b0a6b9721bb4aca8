# Changed.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    def build():
        if wide:
            return tf.keras.Sequential([tf.keras.layers.Dense(10)])
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])
    with strategy.scope():
        model = build()
model.fit(data)
