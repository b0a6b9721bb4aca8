import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
every = tf.data.Dataset.from_tensor_slices((x, y))
train, test = every.skip(10), every.take(10)
model.fit(train.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())).batch(8))
model.evaluate(test.batch(8))
