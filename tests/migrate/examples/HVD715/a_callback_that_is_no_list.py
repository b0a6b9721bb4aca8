# Changed: A callback that is no list.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, callbacks=tf.keras.callbacks.EarlyStopping())
