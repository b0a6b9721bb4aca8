import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adadelta(learning_rate=tf.keras.optimizers.Adadelta().get_config()["learning_rate"] * hvd.size()), 'mse')
model.fit(data)
