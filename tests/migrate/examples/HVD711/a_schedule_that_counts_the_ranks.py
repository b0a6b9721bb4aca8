# Kept: what it counts is divided already.

import tensorflow as tf
import horovod.tensorflow.keras as hvd

class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, rate, steps):
        self.rate, self.steps = rate, steps

    def __call__(self, step):
        return self.rate * tf.minimum(1.0, tf.cast(step, tf.float32) / self.steps)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(WarmUp(1e-3, 400 // hvd.size())), "mse")
model.fit(data)
