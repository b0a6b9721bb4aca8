# Kept: it is scaled already
# Options: --suggested

import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(0.1 * hvd.size()), 'mse')
model.fit(data)
