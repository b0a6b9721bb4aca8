# Changed: compile is not reached by the model of the other arm

import os
from tensorflow import keras

if os.path.exists("model.h5"):
    model = keras.models.load_model("model.h5")
else:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit(x, y)
