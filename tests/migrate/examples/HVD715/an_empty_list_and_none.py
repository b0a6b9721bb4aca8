# Changed: An empty list, and None.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = []
model.fit(x, y, callbacks=callbacks)
model.fit(x, y, callbacks=None)
model.fit(x, y, callbacks=callbacks)
