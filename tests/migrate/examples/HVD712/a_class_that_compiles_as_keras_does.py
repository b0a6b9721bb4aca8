# Changed: rmsprop is what it takes

import horovod.tensorflow.keras as hvd
import keras

class Net(keras.Model):
    def call(self, x):
        return x

model = Net()
model.compile(loss="mse")
model.fit(x, y)
