import horovod.tensorflow.keras as hvd
import tensorflow as tf

steps = 100
rate = tf.keras.optimizers.schedules.CosineDecay(0.1, decay_steps=20 * steps // hvd.size())
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(rate), "mse")
model.fit(x, y, epochs=20)
