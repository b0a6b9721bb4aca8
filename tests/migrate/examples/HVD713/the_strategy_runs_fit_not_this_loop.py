# Changed: The strategy runs fit, not this loop: its loss is a mean, and the gradients are averaged.

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
if eager:
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
else:
    with strategy.scope():
        tf.keras.Sequential([]).fit(data)
