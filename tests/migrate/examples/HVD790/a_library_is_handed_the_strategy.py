# Reported: a library is handed the strategy

import library
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
library.train(strategy)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
