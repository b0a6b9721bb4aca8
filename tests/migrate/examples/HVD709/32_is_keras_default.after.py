import horovod.tensorflow.keras as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
model.fit(x, y, epochs=3, batch_size=32 // hvd.size())
