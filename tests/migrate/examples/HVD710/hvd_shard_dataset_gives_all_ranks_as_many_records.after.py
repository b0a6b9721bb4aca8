import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.TFRecordDataset(files).apply(hvd.shard_dataset).map(parse).batch(8)
model.fit(train)
