# Reported: where it is used it has been shuffled, without a seed, on one of its ways

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
def prepare(shuffle=True):
    data = tf.data.Dataset.range(99)
    if shuffle:
        data = data.shuffle(99)
    data = data.batch(8)
    return data

model.fit(prepare())
model.evaluate(prepare(shuffle=False))
