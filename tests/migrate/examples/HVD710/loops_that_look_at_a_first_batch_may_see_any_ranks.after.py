import hvdkit.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
train = tf.data.Dataset.from_tensor_slices((x, y)).apply(hvd.shard_dataset).map(read)
for x, y in train:
    print(x.shape)
    break
for x, y in train.take(1):
    print(y)
model.fit(train.shuffle(100).batch(8))
