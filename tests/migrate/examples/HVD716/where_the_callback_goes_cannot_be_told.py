# Reported: where the callback goes cannot be told

import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
every = {"log": CSVLogger("log.csv")}
model.fit(data, callbacks=choose(every))
