# Changed: what a csv writer appends is told by rank 0.

import csv
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
for epoch in range(3):
    history = model.fit(x, y)
    with open("loss.csv", "a") as file:
        csv.writer(file).writerow([epoch, history.history["loss"][0]])
