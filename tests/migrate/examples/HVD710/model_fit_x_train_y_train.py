# Changed.
# Options: --target hvdkit

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x_train, y_train)
