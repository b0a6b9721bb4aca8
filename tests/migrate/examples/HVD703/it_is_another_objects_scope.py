# Kept: it is another object's scope

import tensorflow as tf

with tf.name_scope("net"), session.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(x, y)
