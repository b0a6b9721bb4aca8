import horovod.tensorflow.keras as hvd
import tensorflow as tf
from data import pipeline

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(pipeline(train).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())))
