# Kept: fit runs the loop over batches, and its callback broadcasts

import tensorflow as tf

class Gan(tf.keras.Model):
    def train_step(self, x):
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = self.critic(x)
            gradients = tape.gradient(loss, self.critic.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.critic.trainable_variables))
        return {}

Gan().fit(data)
