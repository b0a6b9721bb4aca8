# Changed: Every process shuffles such an iterator in its own way: all ranks together draw one epoch.
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images")
model.fit(train, epochs=2)
