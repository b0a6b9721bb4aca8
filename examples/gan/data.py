"""Handwritten digits as (1, 8, 8) tensors in [-1, 1]: the scans that ship in scikit-learn, nothing to download."""

import torch
from sklearn.datasets import load_digits

HELD_OUT = 360  # images that the discriminator never sees


def load():
    """The images to train on and those to measure with, as tensors (N, 1, 8, 8)."""
    images = torch.as_tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    images = images[torch.randperm(len(images), generator=torch.Generator().manual_seed(0))]
    return images[HELD_OUT:], images[:HELD_OUT]


def frechet_distance(a, b):
    """The Frechet distance between two sets of images, each taken as a Gaussian over its pixels; 0 when equal.

    |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), as in Heusel et al. 2017 (arXiv:1706.08500), there over the
    features of an Inception network, which 8x8 digits do not need.
    """
    a, b = a.flatten(1).double().cpu(), b.flatten(1).double().cpu()
    covariance_a, covariance_b = a.T.cov(), b.T.cov()
    # The eigenvalues of C1 C2 are real and not negative, up to rounding.
    root = torch.linalg.eigvals(covariance_a @ covariance_b).real.clamp(min=0).sqrt().sum()
    mean = (a.mean(0) - b.mean(0)).square().sum()
    return (mean + covariance_a.trace() + covariance_b.trace() - 2 * root).item()
