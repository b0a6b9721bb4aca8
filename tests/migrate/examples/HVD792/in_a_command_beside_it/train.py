# Reported: the command that starts it says PyTorch

import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(x, y)
