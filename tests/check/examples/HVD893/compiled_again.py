# Kept: the loaded model is compiled anew

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model = tf.keras.models.load_model("resume.h5")
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
model.fit(x, y, epochs=2, callbacks=callbacks)
