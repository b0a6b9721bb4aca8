# Kept: nothing is trained: it stays a single-process program

import tensorflow as tf

model = tf.keras.models.load_model('m')
print(model.predict(x))
