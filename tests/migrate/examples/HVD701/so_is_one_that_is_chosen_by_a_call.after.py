import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
local_gpus = tf.config.list_physical_devices("GPU")
for gpu in local_gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
if local_gpus:
    tf.config.set_visible_devices(local_gpus[hvd.local_rank()], "GPU")

gpus = tf.config.list_physical_devices("GPU")
if gpus:
    # hvdkit: TODO[HVD701] remove it: hvd.local_rank() chooses the GPU of each process
    tf.config.set_visible_devices(gpus[0], "GPU")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
