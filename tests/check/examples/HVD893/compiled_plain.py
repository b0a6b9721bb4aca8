# Reported: what hvd.DistributedOptimizer returned is left aside

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
wrapped = hvd.DistributedOptimizer(optimizer)
model.compile(optimizer=optimizer, loss="mse")
model.fit(x, y, epochs=2, callbacks=callbacks)
