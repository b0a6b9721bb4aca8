import hvdkit.tensorflow.keras as hvd
import tensorflow as tf
import tensorflow_datasets as tfds

builder = tfds.builder("mnist")
train = builder.as_dataset(split="train", as_supervised=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train.apply(hvd.shard_dataset).map(scale).shuffle(100).batch(8))
