import horovod.tensorflow as hvd
import tensorflow as tf

class Trainer:
    def __init__(self, **given):
        self.__dict__.update(given)
        self.data = given["data"]

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.model(x))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

    def train(self):
        for x in self.data:
            self.step(x)
            if self.optimizer.iterations == 1:
                hvd.broadcast_variables(self.model.variables, root_rank=0)
                hvd.broadcast_variables(self.optimizer.variables(), root_rank=0)
