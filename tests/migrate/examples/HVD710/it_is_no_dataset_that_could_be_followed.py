# Reported: it is no dataset that could be followed

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(generator, epochs=3)
