# Reported: one of the datasets inside is shuffled without a seed

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
one, two = tf.data.Dataset.range(9).shuffle(9), tf.data.Dataset.range(9)
model.fit(tf.data.Dataset.zip((one, two)).batch(3))
