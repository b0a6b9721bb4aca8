# Reported: nothing can stand below a return: it is told

import tensorflow as tf
import tensorflow_datasets as tfds

def load():
    return tfds.load("mnist", split="train")

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(load().batch(8))
