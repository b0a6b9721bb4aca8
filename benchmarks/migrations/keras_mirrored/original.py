"""A network with Keras' fit under MirroredStrategy, whose batch is that of all devices."""

import numpy as np
import tensorflow as tf

BATCH = 8

strategy = tf.distribute.MirroredStrategy()
tf.keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH * strategy.num_replicas_in_sync)
with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
model.fit(data, epochs=2, callbacks=[tf.keras.callbacks.ModelCheckpoint("model.keras")], verbose=2)
