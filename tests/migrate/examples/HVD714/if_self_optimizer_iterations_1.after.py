import horovod.tensorflow as hvd
import tensorflow as tf

class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.net(x))
        gradients = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.net.trainable_variables))

    def fit(self, data):
        for epoch in range(3):
            for x in data:
                self.step(x)
                if self.optimizer.iterations == 1:
                    hvd.broadcast_variables(self.net.variables, root_rank=0)
                    hvd.broadcast_variables(self.optimizer.variables(), root_rank=0)
                print(epoch)

Trainer(build()).fit(data)
