import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

def pipeline(split):
    return tf.data.Dataset.from_tensor_slices(split).batch(8)

model.fit(pipeline(train).apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size())).shard(hvd.size(), hvd.rank())))
evaluate(model, pipeline(test))
