# Kept: nothing is trained: it stays a program of one process

import tensorflow as tf

model = tf.keras.models.load_model('m')
print(model.predict(x))
