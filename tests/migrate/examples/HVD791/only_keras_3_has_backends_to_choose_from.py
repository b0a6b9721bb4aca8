# Reported: only Keras 3 has backends to choose from

import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
