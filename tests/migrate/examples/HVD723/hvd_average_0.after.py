import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
model.save("m.keras")
hvd.average(0)
model = tf.keras.models.load_model("m.keras")
