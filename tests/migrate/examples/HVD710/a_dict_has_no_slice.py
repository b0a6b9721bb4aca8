# Reported: a dict has no slice

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
features = {name: column(name) for name in names}
model.fit(features, y)
