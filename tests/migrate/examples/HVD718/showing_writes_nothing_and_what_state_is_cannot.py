# Kept: showing writes nothing, and what state is cannot be seen

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
from PIL import Image

Image.open('a.png').resize((8, 8)).show()
state.save('b.png')
