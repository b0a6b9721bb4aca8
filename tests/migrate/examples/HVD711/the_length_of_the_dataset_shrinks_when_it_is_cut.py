# Reported: the length of the dataset shrinks when it is cut

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.Dataset.range(100).batch(8)
model.fit(train.repeat(), steps_per_epoch=len(train))
