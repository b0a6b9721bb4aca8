# Kept: every rank evaluates all of the data, in batches of any size

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
model.fit(train)
model.evaluate(tf.data.Dataset.from_tensor_slices((x, y)).batch(64))
