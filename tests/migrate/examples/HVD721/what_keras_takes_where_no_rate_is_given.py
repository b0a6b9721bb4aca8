# Changed: What Keras takes where no rate is given.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(epsilon=1e-7)
model.compile('SGD', 'mse')
model.fit(data)
