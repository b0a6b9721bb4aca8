# Kept: so here

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
if train:
    model.fit(x, y)
    model.save_weights("m.h5")
else:
    model.load_weights("m.h5")
