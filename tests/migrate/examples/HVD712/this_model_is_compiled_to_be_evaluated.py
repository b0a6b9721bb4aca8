# Kept: this model is compiled to be evaluated

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", loss="mse")
print(model.evaluate(x, y))
other = tf.keras.Sequential([])
other.fit(x, y)
