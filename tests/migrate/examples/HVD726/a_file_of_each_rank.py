# Kept: its name holds the rank.

import tensorflow as tf
import horovod.tensorflow.keras as hvd

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
with open(f"log-{hvd.rank()}.txt", "w") as file:
    file.write("done")
