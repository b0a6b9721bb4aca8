"""Handwritten digits as (image, label) tensors for PyTorch; digits.py says which and from where."""

import torch
from torch.utils.data import TensorDataset

import digits


def tensors(images, labels):
    """Images (N, 28, 28) in 0..255 and labels (N,) as a dataset of (1, 28, 28) floats and class indices."""
    pixels = torch.as_tensor(images.copy(), dtype=torch.float32).unsqueeze(1) / 255
    return TensorDataset(
        (pixels - digits.MEAN) / digits.STD, torch.as_tensor(labels.copy(), dtype=torch.long)
    )


def load(folder=None):
    """The training and the test set."""
    return tuple(tensors(images, labels) for images, labels in digits.load(folder))
