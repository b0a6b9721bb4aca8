# Reported: the files come in another order on every rank

import tensorflow_datasets as tfds
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
data = tfds.load('mnist', shuffle_files=True)
model.fit(data['train'].batch(8))
