# Changed: Two models under one optimizer; variables that are put together; another method of the class.
# Options: --target hvdkit

import tensorflow as tf

class Trainer:
    def __init__(self):
        self.encoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.decoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam()

    def step(self, x):
        variables = self.encoder.trainable_variables + self.decoder.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.decoder(self.encoder(x)))
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))

    def train(self, data):
        for x in data:
            self.step(x)
