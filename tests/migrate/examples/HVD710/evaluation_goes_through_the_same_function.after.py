import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

def prepare(data):
    return data.shuffle(100).batch(8)

(x, y), (a, b) = tf.keras.datasets.mnist.load_data()
train = tf.data.Dataset.from_tensor_slices((x, y))
test = tf.data.Dataset.from_tensor_slices((a, b))
model.fit(prepare(train.apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank()))), validation_data=prepare(test))
