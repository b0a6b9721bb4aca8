# Reported: the mean of two AUCs is not the AUC of the whole

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
accuracy = tf.keras.metrics.AUC()

def step(x, y):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = f(out, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
    accuracy.update_state(y, out)

for x, y in data:
    strategy.run(step, args=(x, y))
print(accuracy.result())
