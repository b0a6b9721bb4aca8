import horovod.tensorflow as hvd
import tensorflow as tf

def keep(path, image):
    if not hvd.is_initialized() or hvd.rank() == 0:
        tf.keras.utils.save_img(path, image)
