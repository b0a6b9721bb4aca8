import csv
import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
for epoch in range(3):
    history = model.fit(x, y)
    if hvd.rank() == 0:
        with open("loss.csv", "a") as file:
            csv.writer(file).writerow([epoch, history.history["loss"][0]])
