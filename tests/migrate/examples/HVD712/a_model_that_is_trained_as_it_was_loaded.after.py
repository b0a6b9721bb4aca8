import os
import horovod.tensorflow.keras as hvd
from tensorflow import keras

def resumed():
    if os.path.exists("model.h5"):
        return hvd.load_model("model.h5")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)), "mse")
    return model

model = resumed()
model.fit(x, y)
