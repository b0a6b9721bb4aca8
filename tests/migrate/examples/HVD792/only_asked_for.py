# Kept: the backend is asked for, and not set

import os
import keras

print(os.environ.get("KERAS_BACKEND", "torch"))
model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
