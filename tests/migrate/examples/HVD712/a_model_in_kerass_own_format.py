# Changed: and the load is left: the class of Horovod's optimizer is in the file, and nothing finds it there

from tensorflow import keras

path = "model.keras"
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit(x, y)
model.save(path)
best = keras.models.load_model(path)
