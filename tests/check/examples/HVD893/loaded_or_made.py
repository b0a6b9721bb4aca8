# Reported: the one that is loaded is not compiled again

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
import os

if os.path.exists("resume.h5"):
    model = tf.keras.models.load_model("resume.h5")
else:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
model.fit(x, y, epochs=2, callbacks=callbacks)
