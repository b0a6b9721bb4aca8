"""The calls of TensorFlow and Keras, in whichever program."""
