# Changed.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
stop = [
    tf.keras.callbacks.EarlyStopping(),  # soon
]
model.fit(data, callbacks=stop)
