# Reported: neither the model nor the optimizer has a name

import tensorflow as tf

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(nets[0](x))
    make().apply_gradients(zip(tape.gradient(loss, nets[0].trainable_variables), nets[0].trainable_variables))

for x in data:
    step(x)
