import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data, steps_per_epoch=hvd.steps_per_epoch(1000))
