"""Scenes of handwritten digits with the class of every pixel, from the scans that ship in scikit-learn."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import TensorDataset

SIDE = 48  # of a scene
CLASSES = 11  # background, and the digits 0 to 9 as 1 to 10
HELD_OUT = 360  # scans that are only in the scenes for validation


def scenes(scans, digits, count, seed):
    """Images (count, 1, SIDE, SIDE) in [0, 1] and labels (count, SIDE, SIDE); three digits each, of any size."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.zeros(count, 1, SIDE, SIDE)
    labels = torch.zeros(count, SIDE, SIDE, dtype=torch.long)
    for image, label in zip(images, labels):
        for index in torch.randint(len(scans), (3,), generator=generator):
            side = int(torch.randint(14, 25, (), generator=generator))
            top, left = torch.randint(0, SIDE - side + 1, (2,), generator=generator).tolist()
            window = (slice(top, top + side), slice(left, left + side))
            scan = F.interpolate(scans[index][None, None], size=side, mode="bilinear")[0, 0]
            ink = scan > 0.3
            image[0][window][ink] = scan[ink]
            label[window][ink] = digits[index] + 1
    return TensorDataset(images, labels)


def load(train=1600, held_out=320):
    """The scenes to train on and those to validate with; no scan is in both."""
    source = load_digits()
    scans = torch.as_tensor(source.images, dtype=torch.float32) / 16
    digits = torch.as_tensor(source.target)
    order = torch.randperm(len(scans), generator=torch.Generator().manual_seed(0))
    seen, unseen = order[HELD_OUT:], order[:HELD_OUT]
    return (
        scenes(scans[seen], digits[seen], train, seed=1),
        scenes(scans[unseen], digits[unseen], held_out, seed=2),
    )
