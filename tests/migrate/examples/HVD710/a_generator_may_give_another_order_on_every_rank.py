# Reported: a generator may give another order on every rank

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.Dataset.from_generator(lines, tf.string).batch(8)
model.fit(train)
