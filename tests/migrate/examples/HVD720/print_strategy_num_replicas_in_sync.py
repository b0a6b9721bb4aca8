# Changed.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
print(strategy.num_replicas_in_sync)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    print("built")
model.fit(data)
