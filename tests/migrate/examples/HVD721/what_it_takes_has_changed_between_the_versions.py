# Changed: What it takes has changed between the versions of Keras: it is asked of one that is made for it.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adadelta(), 'mse')
model.fit(data)
