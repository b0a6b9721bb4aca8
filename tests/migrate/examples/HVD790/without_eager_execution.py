# Reported: without eager execution

import tensorflow as tf

tf.compat.v1.disable_v2_behavior()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
