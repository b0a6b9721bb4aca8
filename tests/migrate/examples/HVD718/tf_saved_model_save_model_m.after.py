import horovod.tensorflow.keras as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.fit(data)
    if hvd.rank() == 0:
        tf.saved_model.save(model, "m")
