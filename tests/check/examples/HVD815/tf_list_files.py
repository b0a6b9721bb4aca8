# Reported: list_files shuffles unless it is told not to

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
data = tf.data.Dataset.list_files("data/*.tfrecord")
data = data.shard(num_shards=hvd.size(), index=hvd.rank()).interleave(tf.data.TFRecordDataset).batch(8)
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD()), "mse")
model.fit(data, epochs=2)
