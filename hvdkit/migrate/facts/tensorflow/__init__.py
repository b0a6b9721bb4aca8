"""What a TensorFlow program is: its strategies, its calls of fit, its tapes and its datasets."""
