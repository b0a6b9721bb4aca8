"""How far apart two tensors of two runs are, over the values that were kept of each."""

from __future__ import annotations

from pathlib import Path

Place = tuple[Path, str]  # the file of a step's values, and the tensor's name


def distance(one: Place, other: Place, kind: str) -> tuple[float, float | None]:
    """The largest absolute difference, and the Euclidean norm of the difference over that of the first
    (None where that is 0). kind: the field of `records.Step`."""
    of_tensorflow = one[0].suffix == ".npz"
    return (_of_arrays if of_tensorflow else _of_tensors)(one, other, kind)


def _of_tensors(one: Place, other: Place, kind: str) -> tuple[float, float | None]:
    import torch

    left, right = (
        torch.load(path, weights_only=True)[kind][name].to(torch.float64) for path, name in (one, other)
    )
    if not left.numel():
        return 0.0, 0.0
    norm = float(torch.linalg.vector_norm(left))
    apart = float(torch.linalg.vector_norm(left - right))
    return float((left - right).abs().max()), apart / norm if norm else None


def _of_arrays(one: Place, other: Place, kind: str) -> tuple[float, float | None]:
    import numpy as np

    left, right = (np.load(path)[f"{kind}/{name}"] for path, name in (one, other))
    if not left.size:
        return 0.0, 0.0
    norm = float(np.linalg.norm(left))
    apart = float(np.linalg.norm(left - right))
    return float(np.abs(left - right).max()), apart / norm if norm else None
