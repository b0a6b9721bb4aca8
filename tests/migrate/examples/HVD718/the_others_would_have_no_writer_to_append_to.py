# Reported: the others would have no writer to append to

import imageio
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(data)
with imageio.get_writer('a.gif') as writer:
    writer.append_data(x)
