"""Train a GAN on the 8x8 handwritten digits of scikit-learn, with Keras' fit and a train_step of its own.

The printed distance is Fréchet's, between the pixels of generated digits and of held-out real ones.
"""

import argparse

import numpy as np
import hvdkit.tensorflow as hvd
import tensorflow as tf
from sklearn.datasets import load_digits
from hvdkit.tensorflow.keras import callbacks as hvd_callbacks

NOISE = 16
HELD_OUT = 256


def real_digits():
    """Images in [-1, 1], (N, 64): those to train on, and those that are held out."""
    images = (load_digits().data.astype("float32") / 8) - 1
    order = np.random.default_rng(0).permutation(len(images))
    return images[order[HELD_OUT:]], images[order[:HELD_OUT]]


def distance(real, generated):
    """Fréchet's distance between two sets of images, as normal distributions of their pixels."""
    difference = real.mean(axis=0) - generated.mean(axis=0)
    covariances = [np.cov(images, rowvar=False) for images in (real, generated)]
    values, vectors = np.linalg.eigh(covariances[0])
    root = vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T
    between = np.linalg.eigvalsh(root @ covariances[1] @ root)
    traces = np.trace(covariances[0]) + np.trace(covariances[1])
    return difference @ difference + traces - 2 * np.sqrt(np.maximum(between, 0)).sum()


class GAN(tf.keras.Model):
    """A generator and a discriminator, each with its own optimizer."""

    def __init__(self, generator, discriminator):
        super().__init__()
        self.generator = generator
        self.discriminator = discriminator

    def compile(self, generator_optimizer, discriminator_optimizer):
        super().compile()
        self.generator_optimizer = generator_optimizer
        self.discriminator_optimizer = discriminator_optimizer
        self.entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def call(self, noise):
        return self.generator(noise)

    def train_step(self, images):
        noise = tf.random.normal((tf.shape(images)[0], NOISE))
        with tf.GradientTape() as tape:
            real = self.discriminator(images, training=True)
            fake = self.discriminator(self.generator(noise, training=True), training=True)
            seen = self.entropy(tf.ones_like(real), real) + self.entropy(tf.zeros_like(fake), fake)
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(seen, self.discriminator.trainable_variables)
        self.discriminator_optimizer.apply_gradients(zip(gradients, self.discriminator.trainable_variables))

        noise = tf.random.normal((tf.shape(images)[0], NOISE))
        with tf.GradientTape() as tape:
            fake = self.discriminator(self.generator(noise, training=True), training=True)
            fooled = self.entropy(tf.ones_like(fake), fake)
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(fooled, self.generator.trainable_variables)
        self.generator_optimizer.apply_gradients(zip(gradients, self.generator.trainable_variables))
        return {"discriminator": seen, "generator": fooled}


def networks(width):
    generator = tf.keras.Sequential(
        [
            tf.keras.Input((NOISE,)),
            tf.keras.layers.Dense(4 * width, activation="relu"),
            tf.keras.layers.Dense(4 * width, activation="relu"),
            tf.keras.layers.Dense(64, activation="tanh"),
        ]
    )
    discriminator = tf.keras.Sequential(
        [
            tf.keras.Input((64,)),
            tf.keras.layers.Dense(4 * width),
            tf.keras.layers.LeakyReLU(),
            tf.keras.layers.Dense(2 * width),
            tf.keras.layers.LeakyReLU(),
            tf.keras.layers.Dense(1),
        ]
    )
    return generator, discriminator


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(0)
    images, held_out = real_digits()
    dataset = tf.data.Dataset.from_tensor_slices(images)
    dataset = dataset.apply(hvd.shard_dataset).shuffle(len(images)).batch(args.batch_size, drop_remainder=True)

    gan = GAN(*networks(args.width))
    gan.compile(
        tf.keras.optimizers.Adam(2e-4, beta_1=0.5),
        tf.keras.optimizers.Adam(2e-4, beta_1=0.5),
    )
    gan.fit(dataset, epochs=args.epochs, verbose=hvd.verbose(2), callbacks=hvd_callbacks())
    generated = gan.generator.predict(np.random.normal(size=(1000, NOISE)).astype("float32"), verbose=0)
    if hvd.rank() == 0:
        print(f"after epoch {args.epochs}: distance {distance(held_out, generated):.2f}")


if __name__ == "__main__":
    hvd.init()
    main()
