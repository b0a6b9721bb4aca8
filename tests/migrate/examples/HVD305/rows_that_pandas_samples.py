# Changed: pandas draws by numpy's random numbers

import pandas as pd
import tensorflow as tf

frame = pd.read_csv("reviews.csv")
frame = frame.sample(frac=1)
data = tf.data.Dataset.from_tensor_slices((frame.text.values, frame.label.values)).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data)
