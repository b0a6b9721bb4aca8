# Changed: The file is opened on rank 0, too: the others would empty it.

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
with open('a.npz', 'wb') as f:
    np.save(f, x)
    np.save(f, y)
