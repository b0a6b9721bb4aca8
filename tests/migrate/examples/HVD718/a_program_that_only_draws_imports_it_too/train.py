# Changed: A program that only draws imports it, too, and starts no Horovod: asked for its rank there,
# Horovod refuses.

import tensorflow as tf

def keep(path, image):
    tf.keras.utils.save_img(path, image)
