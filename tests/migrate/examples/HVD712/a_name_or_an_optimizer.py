# Changed: A name or an optimizer: keras.optimizers.get takes both.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

def train(optimizer):
    model.compile(optimizer=optimizer, loss="mse")
    model.fit(data)
