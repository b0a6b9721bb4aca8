# Reported: what becomes of the workers cannot be seen

import json
import os
import tensorflow as tf

workers = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
