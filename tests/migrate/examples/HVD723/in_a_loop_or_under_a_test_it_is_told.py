# Reported: in a loop, or under a test, it is told

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for fold in range(3):
    model.fit(x, y)
    model.save_weights(f"{fold}.h5")
    model.load_weights(f"{fold}.h5")
