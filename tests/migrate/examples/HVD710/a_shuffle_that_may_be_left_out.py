# Changed: both ways pass the batch, and neither may be cut twice.
# Options: --target hvdkit

import tensorflow as tf

def batches(data, shuffle=True):
    if shuffle:
        data = data.shuffle(1000)
    data = data.map(parse)
    return data.batch(8)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(batches(tf.data.Dataset.from_tensor_slices((x, y))))
