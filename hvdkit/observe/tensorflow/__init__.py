"""The same of TensorFlow and Keras."""
