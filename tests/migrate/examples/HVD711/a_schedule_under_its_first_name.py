# Changed: tf.keras.experimental.CosineDecay is the schedule of today's name

import tensorflow as tf

rate = tf.keras.experimental.CosineDecay(0.1, decay_steps=500)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(rate), "mse")
model.fit(data)
