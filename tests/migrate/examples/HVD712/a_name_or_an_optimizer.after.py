import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

def train(optimizer):
    model.compile(optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.get(optimizer)), loss="mse")
    model.fit(data)
