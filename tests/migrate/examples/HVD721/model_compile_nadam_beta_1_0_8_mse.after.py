import horovod.tensorflow.keras as hvd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
from keras.optimizers import Nadam
model.compile(Nadam(beta_1=0.8, learning_rate=Nadam().get_config()["learning_rate"] * hvd.size()), 'mse')
model.fit(data)
