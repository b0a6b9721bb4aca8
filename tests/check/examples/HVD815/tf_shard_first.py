# Kept: each rank shuffles its share

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
data = tf.data.Dataset.list_files("data/*.tfrecord", shuffle=False).shard(hvd.size(), hvd.rank())
data = data.shuffle(96).interleave(tf.data.TFRecordDataset, deterministic=False).batch(8)
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD()), "mse")
model.fit(data, epochs=2)
