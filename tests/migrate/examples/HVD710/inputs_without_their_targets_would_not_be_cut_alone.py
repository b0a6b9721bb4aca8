# Reported: inputs without their targets would not be cut alone

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(scale(x), y)
