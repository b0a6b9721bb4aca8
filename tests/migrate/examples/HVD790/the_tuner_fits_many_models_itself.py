# Reported: the tuner fits many models itself

import keras_tuner
import tensorflow as tf

tuner = keras_tuner.RandomSearch(build, objective="val_loss")
tuner.search(x, y)
