# Kept: the replicas of a TPU are no ranks (HVD790 refuses the program)

import tensorflow as tf

strategy = tf.distribute.TPUStrategy(resolver)
batch = 64 * strategy.num_replicas_in_sync
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(x, y)
