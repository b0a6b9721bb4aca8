# Reported: the means of two metrics would have one name

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
train = {"loss": tf.keras.metrics.Mean()}
test = {"loss": tf.keras.metrics.Mean()}
print(train["loss"].result(), test["loss"].result())
