# Kept: the class's own fit is a loop that takes no callbacks.

import tensorflow as tf

class Net(tf.keras.Model):
    def fit(self, data, epochs):
        for _ in range(epochs):
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((self(x) - y) ** 2)
                gradients = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))

net = Net()
net.compile("adam")
net.fit(data, 2)
