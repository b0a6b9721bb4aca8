import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data, epochs=2, callbacks=hvd.callbacks())
model.fit(data, callbacks=hvd.callbacks([tf.keras.callbacks.EarlyStopping()]))
