# Kept: it is written to memory

import io
from PIL import Image
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
buffer = io.BytesIO()
Image.fromarray(x).save(buffer, format='PNG')
