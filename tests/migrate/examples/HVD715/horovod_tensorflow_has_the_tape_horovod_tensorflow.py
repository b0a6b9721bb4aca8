# Changed: horovod.tensorflow has the tape, horovod.tensorflow.keras the callbacks.

import tensorflow as tf

class Net(tf.keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self(data)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {}

Net().fit(data)
