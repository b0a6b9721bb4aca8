import horovod.tensorflow.keras as hvd
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse", optimizer=hvd.DistributedOptimizer(keras.optimizers.get("rmsprop")))
model.fit(x, y)
