import horovod.tensorflow.keras as hvd
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32 * strategy.num_replicas_in_sync // hvd.size())
other = tf.keras.utils.image_dataset_from_directory("data", batch_size=64 // hvd.size())
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(train)
model.fit(other)
