# Changed.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def step(x):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

for batch in data:
    strategy.experimental_run_v2(step, batch)
    strategy.run(step, (next(it),))
    strategy.run(step, kwargs={"x": batch})
