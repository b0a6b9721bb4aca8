# Reported: rank 0 stops alone, and the others wait for its gradients

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
callbacks = [hvd.callbacks.MetricAverageCallback()]
if hvd.rank() == 0:
    callbacks.append(tf.keras.callbacks.EarlyStopping(monitor="loss"))
model.fit(data, callbacks=callbacks)
