# Changed.

import json
import os
import tensorflow as tf

if several:
    config = {}
    os.environ['TF_CONFIG'] = json.dumps(config)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(data)
