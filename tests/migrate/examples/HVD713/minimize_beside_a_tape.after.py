import horovod.tensorflow as hvd
import tensorflow as tf

class Net(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(y, self(x, training=True))
        tape = hvd.DistributedGradientTape(tape)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return {"loss": loss}

net = Net()
net.compile("adam", "mse")
net.fit(data)
