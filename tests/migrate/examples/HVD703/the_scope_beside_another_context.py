# Changed: The scope beside another context.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope(), tf.name_scope("model"):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(x, y)
