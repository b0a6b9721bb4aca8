# Kept: it is another file

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
model.save_weights("m.h5")
model.load_weights("first.h5")
