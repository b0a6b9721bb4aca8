# Kept: nothing is trained

import tensorflow as tf

path = tf.keras.utils.get_file('x.npz', URL)
model = tf.keras.models.load_model(path)
