"""The TensorFlow half: Keras programs, and what their ranks do."""
