# Changed.

import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")

class Best(ModelCheckpoint):
    pass

model.fit(
    data,
    callbacks=[
        Best("m.h5"),
        EarlyStopping(),
    ],
)
