# Changed: Keras gives a loaded model a plain optimizer

import os
from tensorflow import keras

def resumed():
    if os.path.exists("model.h5"):
        return keras.models.load_model("model.h5")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return model

model = resumed()
model.fit(x, y)
