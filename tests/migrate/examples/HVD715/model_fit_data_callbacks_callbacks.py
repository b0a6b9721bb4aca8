# Changed.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

def train(callbacks=None):
    model.fit(data, callbacks=callbacks)
