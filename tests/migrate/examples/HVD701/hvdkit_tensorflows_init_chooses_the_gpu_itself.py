# Changed: hvdkit.tensorflow's init() chooses the GPU itself.
# Options: --target hvdkit

import os
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
