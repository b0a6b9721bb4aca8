# Kept: it is a Horovod program already

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
path = tf.keras.utils.get_file(f'{hvd.rank()}.npz', URL)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
