# Reported: which loop runs this step is not known: it is told

import tensorflow as tf

class Model(tf.Module):
    def __call__(self, x):
        with tf.GradientTape() as tape:
            loss = net(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables))

model = Model()
for x in data:
    model(x)
