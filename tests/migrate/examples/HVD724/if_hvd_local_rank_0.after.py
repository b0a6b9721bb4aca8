import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

if hvd.local_rank() != 0:
    hvd.average(0)
(x, y), _ = tf.keras.datasets.mnist.load_data()
if hvd.local_rank() == 0:
    hvd.average(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
