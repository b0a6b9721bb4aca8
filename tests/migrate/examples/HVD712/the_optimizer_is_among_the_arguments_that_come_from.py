# Reported: the optimizer is among the arguments that come from **

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
options = read()
model.compile(**options)
model.fit(data)
