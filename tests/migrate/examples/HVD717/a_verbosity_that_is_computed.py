# Changed: A verbosity that is computed.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=1 if debug else 2)
