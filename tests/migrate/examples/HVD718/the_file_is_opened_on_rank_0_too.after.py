import numpy as np
import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
if hvd.rank() == 0:
    with open('a.npz', 'wb') as f:
        np.save(f, x)
        np.save(f, y)
