# Reported: the loop draws its batches by hand

import tensorflow as tf

for step in range(100):
    x = draw()
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
