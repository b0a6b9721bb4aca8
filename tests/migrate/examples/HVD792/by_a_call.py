# Reported: Keras itself is asked for another backend

import keras

keras.config.set_backend("torch")
model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
