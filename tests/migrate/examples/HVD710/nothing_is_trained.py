# Kept: nothing is trained

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.evaluate(x_test, y_test)
model.predict(x_test)
