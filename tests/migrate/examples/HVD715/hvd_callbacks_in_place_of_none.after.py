import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, callbacks=hvd.callbacks())
