"""What the tests inside a job share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hvdkit.torch as hvd

# Read by Horovod's init: lets a test make a process set and take it away again.
os.environ["HOROVOD_DYNAMIC_PROCESS_SETS"] = "1"


@pytest.fixture
def shared_path(tmp_path: Path) -> Path:
    """One directory for all ranks: rank 0's own."""
    return Path(hvd.broadcast_object(str(tmp_path), root_rank=0, name="shared_path"))


@pytest.fixture
def world_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Horovod in this process alone, for what needs no second rank.

    Under Gloo: MPI would leave its variables in the environment of every process that a test starts.
    """
    monkeypatch.setenv("HOROVOD_CONTROLLER", "gloo")
    monkeypatch.setenv("HOROVOD_CPU_OPERATIONS", "gloo")
    hvd.init()
