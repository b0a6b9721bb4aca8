import matplotlib.pyplot as plt
import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(x, y)
figure, axes = plt.subplots()
axes.plot(history.history["loss"])
if hvd.rank() == 0:
    figure.savefig("loss.png")
