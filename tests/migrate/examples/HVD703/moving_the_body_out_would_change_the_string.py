# Reported: moving the body out would change the string

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    text = """one
    two"""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
