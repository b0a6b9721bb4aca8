"""hvdkit: a PyTorch or TensorFlow training script becomes a correct, fast Horovod job.

Nothing is imported here: `hvdkit.torch` needs torch and Horovod, the commands need neither.
"""

__version__ = "0.1.0"
