import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
import tensorflow_datasets as tfds
train, test = tfds.load("mnist", split=["train", "test"], as_supervised=True)
train = train.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).map(scale).shuffle(100).batch(8)
model.fit(train, validation_data=test.batch(8))
