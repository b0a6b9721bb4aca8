# Changed: A GPU that the script picks for itself: every process would work on it.
# Options: --suggested

import os
import tensorflow as tf

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
config = {}
config["CUDA_VISIBLE_DEVICES"] = "0"
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
