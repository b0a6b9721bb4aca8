# Reported: the environment is updated by a dict

import os

os.environ.update({"KERAS_BACKEND": "jax", "OMP_NUM_THREADS": "1"})
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
