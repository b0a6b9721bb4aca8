# Kept: all ranks have to train

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
print(model.fit(data).history)
