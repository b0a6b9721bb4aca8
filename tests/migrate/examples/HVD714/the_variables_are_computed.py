# Reported: the variables are computed, and have no name at the loop

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradients = tape.gradient(loss, model.layers[0].trainable_variables[:1])
    optimizer.apply_gradients(zip(gradients, model.layers[0].trainable_variables[:1]))
