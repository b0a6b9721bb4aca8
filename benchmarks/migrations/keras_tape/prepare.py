"""The checkpoint that the scripts go on from: two steps of training."""

import tensorflow as tf
from original import build

tf.keras.utils.set_random_seed(7)
model = build()
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
optimizer.build(model.trainable_variables)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.random.normal((16, 8))) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
tf.train.Checkpoint(model=model, optimizer=optimizer).write("start/start")
