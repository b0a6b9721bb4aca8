import tensorflow as tf
from horovod.tensorflow.keras import callbacks as hvd_callbacks

class Net(tf.keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self(data)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {}

Net().fit(data, callbacks=[hvd_callbacks.BroadcastGlobalVariablesCallback(0), hvd_callbacks.MetricAverageCallback()])
