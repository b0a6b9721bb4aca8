# Kept: without a strategy the batch size of a source is one process's own

import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train)
