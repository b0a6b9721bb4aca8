# Reported: what os.walk gives is sorted by no call around it

import os
import tensorflow as tf

files = []
for root, _, names in os.walk("flowers"):
    for name in names:
        files.append(os.path.join(root, name))
data = tf.data.Dataset.from_tensor_slices(files).map(read).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data)
