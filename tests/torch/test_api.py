"""`import hvdkit.torch as hvd` in place of horovod.torch: all names are there, missing parts are named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import horovod.torch
import pytest

import hvdkit.torch as hvd

HELPERS = [
    "init",
    "Context",
    "distribute",
    "DistributedSampler",
    "ShardedSampler",
    "Progress",
    "scale_lr",
    "lr_factor",
    "average",
    "sum_",
    "Mean",
    "main_process_first",
    "save",
    "resume",
    "add_arguments",
    "optimizer_arguments",
    "broadcast",
    "DistributedOptimizer",
    "clip_grad_norm_",
    "clip_grad_value_",
    "scaler_step",
    "accumulate",
    "check_sync",
    "unwrap",
    "LARS",
]
# Where the same name does more: init returns a Context, broadcast takes models too, and so on.
OURS = {"init", "DistributedOptimizer", "broadcast"}
EXTENSION = "horovod/torch/mpi_lib_v2"


def test_every_public_name_of_horovod_is_there() -> None:
    names = [name for name in vars(horovod.torch) if not name.startswith("_")]
    assert len(names) > 70
    for name in names:
        theirs, ours = getattr(horovod.torch, name), getattr(hvd, name)
        if not isinstance(theirs, ModuleType):
            assert (ours is theirs) == (name not in OURS), name


def test_the_helpers_are_there() -> None:
    for name in HELPERS:
        assert callable(getattr(hvd, name)), name
        assert getattr(hvd, name).__module__.startswith("hvdkit.torch."), name


@pytest.mark.parametrize(
    ("setup", "seen", "fix"),
    [
        ("sys.modules['torch'] = None", "needs PyTorch", "install torch, then"),
        (
            "import os; os.environ['HVDKIT_ENGINE'] = 'horovod'; sys.modules['horovod'] = None",
            "needs Horovod",
            "run `hvdkit install-horovod`, or set HVDKIT_ENGINE=torch",
        ),
        (
            "import os; exists = os.path.exists\n"
            f"os.path.exists = lambda path: {EXTENSION!r} not in str(path) and exists(path)",
            "Extension horovod.torch has not been built",
            "run `hvdkit install-horovod`",
        ),
        (
            "sys.modules['horovod.torch.mpi_lib_v2'] = None",
            "needs Horovod built for this PyTorch",
            "run `hvdkit install-horovod`",
        ),
    ],
    ids=["no torch", "no horovod", "not built", "does not load"],
)
def test_missing_parts_are_one_error_that_says_what_to_run(setup: str, seen: str, fix: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{setup}\nimport hvdkit.torch"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 1
    assert "hvdkit.torch.backend.HorovodMissingError: " in result.stderr
    assert seen in result.stderr
    assert fix in result.stderr
    assert result.stdout == "", "Horovod's own warning is not printed"
