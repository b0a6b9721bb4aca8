# Reported: with a seed every rank draws the same order
# Options: --suggested

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
np.random.seed(1)
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images")
model.fit(train)
