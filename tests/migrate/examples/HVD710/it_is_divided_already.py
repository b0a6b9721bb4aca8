# Kept: it is divided already

import hvdkit.tensorflow as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images")
for step in range(len(train) // hvd.size()):
    x, y = next(train)
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
