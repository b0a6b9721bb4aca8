import hvdkit.tensorflow.keras as hvd
import tensorflow as tf
import tensorflow_datasets as tfds

data, info = tfds.load("mnist", with_info=True, as_supervised=True)
train, test = data["train"], data["test"]
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train.apply(hvd.shard_dataset).map(scale).shuffle(100).batch(8), validation_data=test.batch(8))
