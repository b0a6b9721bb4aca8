# Changed: what fit is given goes back to an order that each rank would draw for itself

import numpy as np
from tensorflow import keras

order = np.arange(len(images))
np.random.shuffle(order)
train = images[order[:90]], labels[order[:90]]
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train[0], train[1])
