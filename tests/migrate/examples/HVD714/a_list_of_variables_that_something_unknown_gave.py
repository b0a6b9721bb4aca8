# Reported: a list of variables that something unknown gave

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()

def step(x, variables):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))

for x in data:
    step(x, chosen(model))
