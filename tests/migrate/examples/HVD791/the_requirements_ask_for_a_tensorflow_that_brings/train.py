# Reported: the requirements ask for a TensorFlow that brings Keras 3

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(x, y)
