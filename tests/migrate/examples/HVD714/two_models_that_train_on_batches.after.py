import numpy as np
import hvdkit.tensorflow as hvd
import tensorflow as tf

discriminator = tf.keras.Sequential([tf.keras.layers.Dense(1)])
discriminator.compile("adam", "binary_crossentropy")
generator = tf.keras.Sequential([tf.keras.layers.Dense(4)])
discriminator.trainable = False
combined = tf.keras.Sequential([generator, discriminator])
combined.compile("adam", "binary_crossentropy")
for real in data:
    noise = np.random.normal(0, 1, (8, 2))
    discriminator.train_on_batch(real, np.ones((8, 1)))
    if discriminator.optimizer.iterations == 1:
        hvd.broadcast(discriminator, discriminator.optimizer)
    discriminator.train_on_batch(generator.predict(noise), np.zeros((8, 1)))
    combined.train_on_batch(noise, np.ones((8, 1)))
    if combined.optimizer.iterations == 1:
        hvd.broadcast(combined, combined.optimizer)
