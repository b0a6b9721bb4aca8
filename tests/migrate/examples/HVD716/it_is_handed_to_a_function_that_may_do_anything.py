# Reported: it is handed to a function that may do anything with it

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
best = tf.keras.callbacks.ModelCheckpoint("best.keras")
model.fit(x, y, callbacks=all_of(best))
