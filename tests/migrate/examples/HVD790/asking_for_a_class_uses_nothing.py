# Kept: asking for a class uses nothing

import tensorflow as tf

def build(strategy: tf.distribute.Strategy):
    return isinstance(strategy, tf.distribute.TPUStrategy)
