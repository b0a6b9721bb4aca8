"""Keras runs on TensorFlow where that is installed, and on PyTorch elsewhere: scripts/test has both."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

if importlib.util.find_spec("tensorflow") is None:
    os.environ.setdefault("KERAS_BACKEND", "torch")


@pytest.fixture
def keras_path(tmp_path: Path) -> Path:
    """One directory for all ranks: rank 0's own."""
    import hvdkit.keras as hvd

    return Path(hvd.broadcast_object(str(tmp_path), root_rank=0, name="keras_path"))
