# Reported: in a comprehension, or under a test in the line, there is no place above that runs as often

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
loss = tf.keras.metrics.Mean()

def step(x):
    with tf.GradientTape() as tape:
        out = tf.reduce_mean(model(x))
    optimizer.apply_gradients(zip(tape.gradient(out, model.variables), model.variables))
    loss.update_state(out)

for x in data:
    strategy.run(step, args=(x,))
print([float(loss.result()) for _ in range(2)], loss.result() if verbose else "")
