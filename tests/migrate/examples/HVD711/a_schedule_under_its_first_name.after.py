import horovod.tensorflow.keras as hvd
import tensorflow as tf

rate = tf.keras.experimental.CosineDecay(0.1, decay_steps=500 // hvd.size())
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(rate), "mse")
model.fit(data)
