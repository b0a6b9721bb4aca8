# Reported: what fit trains on comes from **, or is computed in the call

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(**arguments)
model.fit(read("x"), read("y"))
