# Changed: A strategy adds up what its replicas minimize, each its share of the batch.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    optimizer.minimize(lambda: tf.reduce_sum((model(x) - y) ** 2) / 64, model.trainable_variables)

for x, y in data:
    strategy.run(step, args=(x, y))
