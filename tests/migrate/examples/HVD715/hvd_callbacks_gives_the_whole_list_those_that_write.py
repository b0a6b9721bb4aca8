# Changed: hvd.callbacks gives the whole list, those that write on rank 0 only.
# Options: --target hvdkit

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data, epochs=2)
model.fit(data, callbacks=[tf.keras.callbacks.EarlyStopping()])
