# Changed: a Keras script starts one run

import tensorflow as tf
import wandb

wandb.init(project="digits")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
