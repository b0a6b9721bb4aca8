# Reported: each replica clipped its own gradients before they were added up

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)) / 64
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients = [tf.clip_by_norm(gradient, 1.0) for gradient in gradients]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

strategy.run(step, args=(x,))
