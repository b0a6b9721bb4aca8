# Changed.

import matplotlib.pyplot as plt
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(x, y)
figure, axes = plt.subplots()
axes.plot(history.history["loss"])
figure.savefig("loss.png")
