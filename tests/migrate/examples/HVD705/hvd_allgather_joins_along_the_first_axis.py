# Reported: hvd.allgather joins along the first axis, and no other

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
total = strategy.reduce(tf.distribute.ReduceOp.SUM, values, axis=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
