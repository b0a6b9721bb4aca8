# Reported: the loss scale belongs around the DistributedOptimizer

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
from tensorflow.keras.mixed_precision import LossScaleOptimizer
model.compile(LossScaleOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
model.fit(data)
