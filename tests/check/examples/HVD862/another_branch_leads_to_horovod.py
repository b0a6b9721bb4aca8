# Kept: where this runs, Horovod is not started

import horovod.tensorflow.keras as hvd
import tensorflow as tf


def train(model):
    hvd.init()
    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
    model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
if args.train:
    train(model)
else:
    model.save("model.h5")
