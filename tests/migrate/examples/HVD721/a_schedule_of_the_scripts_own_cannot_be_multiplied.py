# Kept: a schedule of the script's own cannot be multiplied
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
class Linear(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.1 / step

model.compile(tf.keras.optimizers.SGD(Linear()), "mse")
model.fit(data)
