# Reported: which backend it is cannot be known

import os
import sys

os.environ["KERAS_BACKEND"] = sys.argv[1]
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
