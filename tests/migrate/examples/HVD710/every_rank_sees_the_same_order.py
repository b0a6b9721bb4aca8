# Reported: every rank sees the same order
# Options: --suggested

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images", shuffle=False)
model.fit(train)
