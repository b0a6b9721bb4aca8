# Reported: the tape has no name

import tensorflow as tf

class Trainer:
    def step(self, x):
        with tf.GradientTape() as self.tape:
            loss = tf.reduce_sum(self.model(x))
        gradients = self.tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
