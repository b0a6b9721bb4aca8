# Kept: its optimizer is the one that compile is given

import horovod.tensorflow.keras as hvd
from tensorflow import keras

model = keras.models.load_model("model.h5")
model.compile(hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)), "mse")
model.fit(x, y)
