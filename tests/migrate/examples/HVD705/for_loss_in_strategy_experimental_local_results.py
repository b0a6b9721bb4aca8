# Changed.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def step(x):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    return loss

for x in data:
    losses = strategy.run(step, args=(x,))
    for loss in strategy.experimental_local_results(losses):
        print(loss)
