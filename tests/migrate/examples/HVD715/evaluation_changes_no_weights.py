# Kept: evaluation changes no weights

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.evaluate(data, callbacks=[tf.keras.callbacks.EarlyStopping()])
model.predict(data)
