"""The names of weights in checkpoints, and code that looks through the wrapper of a model."""
