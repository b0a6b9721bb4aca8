# Changed: two processes that cache in one file stop each other.

import tensorflow as tf

def data(folder):
    files = tf.data.Dataset.list_files(folder + "/*.png", shuffle=False)
    return files.map(decode).cache(folder + "/cache").shuffle(1000, seed=1).batch(8)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data("pictures"), validation_data=tf.data.Dataset.range(8).cache("val").batch(8))
