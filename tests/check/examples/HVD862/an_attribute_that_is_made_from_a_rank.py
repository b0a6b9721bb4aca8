# Kept: whatever the object is, an attribute of this name says whether it is rank 0

import horovod.tensorflow.keras as hvd
import tensorflow as tf
from registry import build


class Trainer:
    def __init__(self):
        self.is_chief = hvd.rank() == 0


hvd.init()
trainer = build("trainer")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
if trainer.is_chief:
    model.save("model.h5")
