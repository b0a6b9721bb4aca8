import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.Dataset.from_tensor_slices((x, y)).apply(hvd.shard_dataset).map(read)
train = train.batch(8)
model.fit(train, validation_data=tf.data.Dataset.from_tensor_slices((x, y)).batch(8))
