# Reported: PyTorch, unless the environment says something else

import os

BACKEND = "torch"
os.environ.setdefault("KERAS_BACKEND", BACKEND)
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
