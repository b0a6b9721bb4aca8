# Reported: the cluster is kept for something else, too

import json
import os
import tensorflow as tf

text = os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}})
settings = {}
settings["TF_CONFIG"] = text
strategy = tf.distribute.MultiWorkerMirroredStrategy()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
