import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.Adam())
model.compile(optimizer, "mse")
model.fit(data)
print(optimizer.lr)
