# Changed: One that is appended to a list, and asked afterwards.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = []
best = tf.keras.callbacks.ModelCheckpoint("best.keras")
callbacks.append(best)
model.fit(x, y, callbacks=callbacks)
print(best.best)
