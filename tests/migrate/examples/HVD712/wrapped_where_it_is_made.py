# Changed: Wrapped where it is made: the wrapper is another object, and the script goes on using the name.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
model.compile(optimizer, "mse")
model.fit(data)
print(optimizer.lr)
