# Reported: the script's own function may be one that all ranks have to run

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)

def name():
    return input()

model.save(name())
