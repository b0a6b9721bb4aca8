import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(epsilon=1e-7, learning_rate=0.001 * hvd.size())
model.compile(tf.keras.optimizers.SGD(0.01 * hvd.size()), 'mse')
model.fit(data)
