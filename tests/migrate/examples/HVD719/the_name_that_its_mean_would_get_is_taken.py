# Reported: the name that its mean would get is taken

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
loss_of_all = 0
print(loss.result())
