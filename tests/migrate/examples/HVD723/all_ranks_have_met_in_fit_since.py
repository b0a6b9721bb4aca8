# Kept: all ranks have met in fit since

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for part in ("one", "two"):
    model.fit(x, y)
    model.save_weights("m.h5")
model.fit(x, y)
model.load_weights("m.h5")
