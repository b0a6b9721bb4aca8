# Kept: what a tape takes by the model's variables is only printed.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
norm = tf.Variable(0.0)
norm.assign(tf.linalg.global_norm(tape.gradient(loss, model.trainable_variables)))
print(norm)
