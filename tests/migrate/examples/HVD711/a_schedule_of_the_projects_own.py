# Reported: its class is called with the number of the step, and each rank takes fewer.

import tensorflow as tf

class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, rate, steps):
        self.rate, self.steps = rate, steps

    def __call__(self, step):
        return self.rate * tf.minimum(1.0, tf.cast(step, tf.float32) / self.steps)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(WarmUp(1e-3, 400)), "mse")
model.fit(data)
