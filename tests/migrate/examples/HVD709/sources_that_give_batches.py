# Changed: Sources that give batches.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32 * strategy.num_replicas_in_sync)
other = tf.keras.utils.image_dataset_from_directory("data", batch_size=64)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(train)
model.fit(other)
