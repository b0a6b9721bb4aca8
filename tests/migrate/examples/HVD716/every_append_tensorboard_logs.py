# Changed.

import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
every = [EarlyStopping()]
every.append(TensorBoard("logs"))
model.fit(data, callbacks=every)
