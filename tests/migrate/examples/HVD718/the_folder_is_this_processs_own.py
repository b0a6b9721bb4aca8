# Kept: the folder is this process's own

import shutil
import tempfile
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
folder = tempfile.mkdtemp()
shutil.rmtree(folder)
