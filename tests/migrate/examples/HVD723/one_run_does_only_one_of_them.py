# Kept: one run does only one of them

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
if args.mode == "train":
    model.fit(x, y)
    model.save_weights("m.h5")
if args.mode == "test":
    model.load_weights("m.h5")
