# Changed.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x_train, y_train, 32, sample_weight=w)
model.evaluate(x_test, y_test)
