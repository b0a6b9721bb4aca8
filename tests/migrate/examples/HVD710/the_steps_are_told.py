# Kept: the steps are told, and HVD711 divides them

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images")
model.fit(train, steps_per_epoch=100)
