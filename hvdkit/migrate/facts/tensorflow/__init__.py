"""The datasets, files and shares of programs of TensorFlow and Keras."""
