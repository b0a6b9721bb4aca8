# Changed: An optimizer of Keras 2 computes the gradients in one call and applies them in another.

import tensorflow as tf

optimizer = tf.keras.optimizers.Adam()
for x in data:
    pairs = optimizer.compute_gradients(lambda: tf.reduce_mean(model(x)), model.trainable_variables)
    optimizer.apply_gradients([(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs])
