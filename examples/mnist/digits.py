"""Handwritten digits as numpy arrays: MNIST's own IDX files, or the digits that ship in scikit-learn.

`load(folder)` reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
t10k-labels-idx1-ubyte (gzipped or not) from a folder. `load(None)` takes the 1797 real 8x8 scans of the
UCI optical recognition set, scaled to MNIST's 28x28, so that the example runs with nothing to download.
"""

import gzip
import struct
from pathlib import Path

import numpy as np

MEAN, STD = 0.1307, 0.3081  # of MNIST's training pixels in [0, 1]


def read_idx(path):
    """One IDX file as a numpy array. Format: http://yann.lecun.com/exdb/mnist/ (big-endian header, then bytes)."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    zero, kind, dims = struct.unpack(">HBB", raw[:4])
    if zero != 0 or kind != 0x08:
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{dims}I", raw[4 : 4 + 4 * dims])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dims).reshape(shape)


def find(folder, name):
    """The path of an IDX file, with or without .gz; torchvision's MNIST/raw layout too."""
    for parent in (Path(folder), Path(folder) / "MNIST" / "raw"):
        for path in (parent / name, parent / f"{name}.gz"):
            if path.exists():
                return path
    raise FileNotFoundError(f"{name}[.gz] is not in {folder}")


def load(folder=None):
    """(images, labels) of the training and of the test set: (N, 28, 28) in 0..255, and (N,)."""
    if folder is not None:
        return tuple(
            (
                read_idx(find(folder, f"{part}-images-idx3-ubyte")),
                read_idx(find(folder, f"{part}-labels-idx1-ubyte")),
            )
            for part in ("train", "t10k")
        )
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = digits.images * (255 / 16)
    images = images.repeat(3, axis=1).repeat(3, axis=2)  # 8x8 -> 24x24
    images = np.pad(images, ((0, 0), (2, 2), (2, 2)))  # -> 28x28
    order = np.random.RandomState(0).permutation(len(images))
    train, test = order[:1437], order[1437:]
    return (images[train], digits.target[train]), (images[test], digits.target[test])


def scaled(images):
    """Images (N, 28, 28) in 0..255 as (N, 28, 28, 1) floats of mean 0 and deviation 1, as Keras takes them."""
    pixels = images.astype(np.float32)[..., np.newaxis] / 255
    return (pixels - np.float32(MEAN)) / np.float32(STD)
