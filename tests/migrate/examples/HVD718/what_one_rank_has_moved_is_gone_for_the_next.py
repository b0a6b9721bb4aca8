# Reported: what one rank has moved is gone for the next

import os
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
os.rename("new.h5", "best.h5")
