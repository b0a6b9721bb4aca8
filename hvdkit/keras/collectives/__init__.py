"""What the ranks say to each other, once for each framework under Keras, with the same functions."""
