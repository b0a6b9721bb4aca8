# Kept: this program has no strategy that would read it

import json
import os
import tensorflow as tf

os.environ["TF_CONFIG"] = json.dumps({})
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(x, y)
