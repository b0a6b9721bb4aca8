# Kept: a rate may be among the settings
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adadelta(**settings), 'mse')
model.fit(data)
