# Reported: callbacks may be among the arguments that come from **

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
options = read()
model.fit(data, **options)
