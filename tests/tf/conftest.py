"""These tests need TensorFlow: scripts/test runs them in an environment for each stack that is supported."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("tensorflow") else ["test_*.py"]


@pytest.fixture
def keras_path(tmp_path: Path) -> Path:
    """One directory for all ranks: rank 0's own."""
    import horovod.tensorflow as hvd

    return Path(hvd.broadcast_object(str(tmp_path), root_rank=0, name="keras_path"))


@pytest.fixture(autouse=True)
def same_names_on_all_ranks() -> None:
    """Keras numbers what it makes in each process, and Horovod finds a tensor by its name.

    Ranks of a test that make different numbers of models would have the next one wait for different names.
    """
    if "keras" in sys.modules:
        sys.modules["keras"].backend.clear_session()
