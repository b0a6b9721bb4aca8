# Reported: so from a builder

import tensorflow_datasets as tfds
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
data = tfds.builder('mnist').as_dataset(split='train', shuffle_files=True)
model.fit(data.batch(8))
