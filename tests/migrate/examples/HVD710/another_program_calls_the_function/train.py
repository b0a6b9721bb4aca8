# Changed: Another program calls the function, under another name: nothing is cut inside.

import tensorflow as tf
from data import pipeline

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(pipeline(train))
