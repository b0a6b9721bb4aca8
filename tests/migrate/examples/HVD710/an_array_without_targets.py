# Changed: with a batch size fit is given arrays: datasets have their own

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(digits, batch_size=128)
