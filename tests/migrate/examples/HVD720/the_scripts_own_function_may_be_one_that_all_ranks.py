# Kept: the script's own function may be one that all ranks have to run

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

def score():
    return model.evaluate(x, y)

model.fit(data)
print(score())
