# Reported: the step is hidden in a starred argument

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
strategy.run(*everything)
