import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
data = tf.data.Dataset.list_files("data/*", shuffle=False).shard(num_shards=hvd.size(), index=hvd.rank())
