import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.legacy.Adam(learning_rate=(a.lr + b) * hvd.size()), 'mse')
model.fit(data)
