# Kept: the strategy's batch was that of all replicas
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
strategy = tf.distribute.MirroredStrategy()
model.compile(tf.keras.optimizers.SGD(0.1), 'mse')
model.fit(data)
