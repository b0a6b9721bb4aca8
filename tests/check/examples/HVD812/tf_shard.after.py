import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
data = tf.data.Dataset.range(96).shard(hvd.size(), hvd.rank()).batch(8)
