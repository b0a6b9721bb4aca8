"""A network with Keras' fit and Horovod, whose batch is that of one rank."""

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

BATCH = 8

hvd.init()
tf.keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank()).batch(BATCH)
model = tf.keras.Sequential(
    [tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)]
)
model.compile(
    optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.01)),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
if hvd.rank() == 0:
    callbacks.append(tf.keras.callbacks.ModelCheckpoint("model.keras"))
model.fit(data, epochs=2, callbacks=callbacks, verbose=2 if hvd.rank() == 0 else 0)
