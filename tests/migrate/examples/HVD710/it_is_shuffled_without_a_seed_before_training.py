# Reported: it is shuffled, without a seed, before training and evaluation part

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
every = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100)
model.fit(every.skip(10).batch(8))
model.evaluate(every.take(10).batch(8))
