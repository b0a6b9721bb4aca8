# Kept: Keras 3 has no get_scaled_loss(), so this is Keras 2, under which the order is right

import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)))
for x, y in data:
    with tf.GradientTape() as tape:
        loss = optimizer.get_scaled_loss(tf.reduce_sum(model(x) - y))
    gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, model.trainable_variables))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
