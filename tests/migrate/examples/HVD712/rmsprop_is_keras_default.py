# Changed: rmsprop is Keras' default.

from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
