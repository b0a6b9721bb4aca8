# Reported: the others would read what rank 0 has not written yet.

import tensorflow as tf

with open("names.txt", "w") as file:
    file.write("a b c")
with open("names.txt") as file:
    names = file.read().split()
model = tf.keras.Sequential([tf.keras.layers.Dense(len(names))])
model.compile(loss="mse")
model.fit(x, y)
