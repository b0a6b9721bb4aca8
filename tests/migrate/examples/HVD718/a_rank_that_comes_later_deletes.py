# Reported: a rank that comes later deletes what another has written; where the others wait is the person's
# to say

import shutil
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
shutil.rmtree("logs")
