# Kept: without a strategy there was one replica, and the gradients are averaged

import tensorflow as tf

loss = tf.nn.compute_average_loss(each)
model = tf.keras.Sequential([])
model.fit(data)
