# Reported: how many steps these are is asked of what a rank may have a part of

import tensorflow as tf

data = tf.data.Dataset.range(100).batch(8)
rate = tf.keras.optimizers.schedules.PolynomialDecay(0.1, len(data) * 3)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(rate), "mse")
model.fit(data, epochs=3)
