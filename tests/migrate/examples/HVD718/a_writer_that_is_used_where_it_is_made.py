# Changed: A writer that is used where it is made.

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
with tf.summary.create_file_writer("logs").as_default():
    tf.summary.scalar("loss", 1.0, step=0)
