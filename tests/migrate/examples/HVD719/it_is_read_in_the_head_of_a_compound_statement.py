# Reported: it is read in the head of a compound statement

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

def step(x, y):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = f(out, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    accuracy.update_state(y, out)

for x, y in data:
    strategy.run(step, args=(x, y))
if best < accuracy.result():
    print(1)
