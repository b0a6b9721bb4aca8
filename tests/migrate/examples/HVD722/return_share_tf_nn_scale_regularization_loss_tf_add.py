# Changed.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def compute(y, out):
    share = tf.nn.compute_average_loss(loss(y, out), global_batch_size=64)
    return share + tf.nn.scale_regularization_loss(tf.add_n(model.losses))

def step(x, y):
    with tf.GradientTape() as tape:
        loss = compute(y, model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    return loss

for x, y in data:
    strategy.run(step, args=(x, y))
