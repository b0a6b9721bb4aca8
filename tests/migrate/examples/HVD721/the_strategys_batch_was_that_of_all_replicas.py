# Kept: the strategy's batch was that of all replicas, and the rate was Keras' own for it
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
strategy = tf.distribute.MirroredStrategy()
model.compile(tf.keras.optimizers.Adadelta(), 'mse')
model.fit(data)
