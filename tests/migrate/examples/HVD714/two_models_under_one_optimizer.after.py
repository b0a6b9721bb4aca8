import hvdkit.tensorflow as hvd
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
            if self.optimizer.iterations == 1:
                hvd.broadcast([self.encoder, self.decoder], self.optimizer)
