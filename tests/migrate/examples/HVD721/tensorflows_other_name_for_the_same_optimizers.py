# Changed: TensorFlow's other name for the same optimizers.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.optimizers.SGD(0.1), 'mse')
model.fit(data)
