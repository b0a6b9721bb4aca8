import horovod.tensorflow.keras as hvd
from tensorflow import keras

path = "model.keras"
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)), "mse")
model.fit(x, y)
model.save(path)
# hvdkit: TODO[HVD712] save and load it as .h5, or run `hvdkit migrate --target hvdkit`, whose models load as before
best = keras.models.load_model(path)
