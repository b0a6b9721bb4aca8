import horovod.tensorflow.keras as hvd
import keras

class Tuned(keras.Model):
    def compile(self, loss="mse", optimizer="auto"):
        super().compile(optimizer=keras.optimizers.get(optimizer), loss=loss)

model = Tuned()
model.compile("mae", hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)))
model.fit(x, y)
