# Kept: the class that the file names is replaced on the way

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
def wrapped(**settings):
    return hvd.DistributedOptimizer(tf.keras.optimizers.SGD(**settings))


model = tf.keras.models.load_model("resume.h5", custom_objects={"SGD": wrapped})
model.fit(x, y, epochs=2, callbacks=callbacks)
