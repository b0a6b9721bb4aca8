# Changed.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
from keras.optimizers import Nadam
model.compile(Nadam(beta_1=0.8), 'mse')
model.fit(data)
