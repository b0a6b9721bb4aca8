# Kept: every rank has the callback that stops, and rank 0 the one that writes

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam()), "mse")
callbacks = [hvd.callbacks.MetricAverageCallback(), tf.keras.callbacks.EarlyStopping(monitor="loss")]
if hvd.rank() == 0:
    callbacks.append(tf.keras.callbacks.ModelCheckpoint("best.keras"))
model.fit(data, callbacks=callbacks)
