"""What a TensorFlow program is: its strategies, its calls of fit, its tapes and its datasets."""

from hvdkit.migrate.facts.tensorflow.facts import TensorFlow

__all__ = ["TensorFlow"]
