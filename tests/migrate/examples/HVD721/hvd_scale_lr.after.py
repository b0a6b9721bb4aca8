import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(hvd.scale_lr(0.1)), "mse")
model.fit(x, y)
