# Changed.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile('adagrad', 'mse')
model.fit(data)
