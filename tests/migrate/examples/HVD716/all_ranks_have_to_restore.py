# Reported: all ranks have to restore

import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
backup = tf.keras.callbacks.BackupAndRestore("backup")
model.fit(data, callbacks=[backup])
