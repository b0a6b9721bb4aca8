import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adagrad(tf.keras.optimizers.Adagrad().get_config()["learning_rate"] * hvd.size()), 'mse')
model.fit(data)
