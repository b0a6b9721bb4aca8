# Reported: the ranks train inside the test: they must not wait around it

import tensorflow as tf

def train(path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y)

if args.train:
    path = tf.keras.utils.get_file("x.npz", URL)
    train(path)
