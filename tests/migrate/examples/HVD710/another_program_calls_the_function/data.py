import tensorflow as tf

def pipeline(split):
    return tf.data.Dataset.from_tensor_slices(split).batch(8)
