# Reported: servers keep the weights

import tensorflow as tf

strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
