import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
x_val = np.random.default_rng(1).normal(size=(32, 8)).astype("float32")
y_val = (x_val.sum(axis=1) > 0).astype("int32")

generator = tf.keras.Sequential(
    [tf.keras.layers.Dense(16, activation="relu", input_shape=(4,)), tf.keras.layers.Dense(8)]
)
critic = tf.keras.Sequential(
    [tf.keras.layers.Dense(16, activation="relu", input_shape=(8,)), tf.keras.layers.Dense(1)]
)
train = tf.data.Dataset.from_tensor_slices(x).shuffle(64).batch(8)
generator_optimizer = tf.keras.optimizers.Adam(0.001)
critic_optimizer = tf.keras.optimizers.Adam(0.002)
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for _ in range(2):
    for real in train:
        noise = tf.random.normal((len(real), 4))
        with tf.GradientTape() as generator_tape, tf.GradientTape() as critic_tape:
            fake = generator(noise, training=True)
            on_real, on_fake = critic(real, training=True), critic(fake, training=True)
            generator_loss = entropy(tf.ones_like(on_fake), on_fake)
            critic_loss = entropy(tf.ones_like(on_real), on_real) + entropy(tf.zeros_like(on_fake), on_fake)
        generator_gradients = generator_tape.gradient(generator_loss, generator.trainable_variables)
        critic_gradients = critic_tape.gradient(critic_loss, critic.trainable_variables)
        generator_optimizer.apply_gradients(zip(generator_gradients, generator.trainable_variables))
        critic_optimizer.apply_gradients(zip(critic_gradients, critic.trainable_variables))
generator.save_weights("generator.weights.h5")
