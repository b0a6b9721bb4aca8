"""A missing TensorFlow, Keras or Horovod is one error that says what to run, and nothing else is printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Of a package with this name and nothing in it, for what cannot be taken away from a real one.
FAKE_TENSORFLOW = """
from types import ModuleType
tensorflow = sys.modules["tensorflow"] = ModuleType("tensorflow")
tensorflow.errors = ModuleType("tensorflow.errors")
tensorflow.errors.NotFoundError = type("NotFoundError", (Exception,), {})
"""
NOT_BUILT = """
import os
exists = os.path.exists
os.path.exists = lambda path: "horovod/tensorflow/mpi_lib" not in str(path) and exists(path)
"""


@pytest.mark.parametrize(
    ("setup", "module", "seen", "fix"),
    [
        (
            "sys.modules['tensorflow'] = None",
            "hvdkit.tensorflow",
            "needs TensorFlow",
            "install tensorflow, then",
        ),
        ("sys.modules['keras'] = None", "hvdkit.keras", "needs Keras", "pip install keras"),
        (
            FAKE_TENSORFLOW + "sys.modules['horovod'] = None",
            "hvdkit.tensorflow",
            "needs Horovod built for this TensorFlow",
            "run `hvdkit install-horovod`",
        ),
        (
            FAKE_TENSORFLOW + NOT_BUILT,
            "hvdkit.tensorflow",
            "Extension horovod.tensorflow has not been built",
            "run `hvdkit install-horovod`",
        ),
    ],
    ids=["no tensorflow", "no keras", "no horovod", "not built"],
)
def test_missing_parts(setup: str, module: str, seen: str, fix: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{setup}\nimport {module}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 1
    assert "MissingError: hvdkit." in result.stderr
    assert seen in result.stderr
    assert fix in result.stderr
    assert result.stdout == ""


def test_keras_on_a_framework_without_horovod() -> None:
    script = "import sys, keras\nkeras.backend.backend = lambda: 'jax'\nimport hvdkit.keras"
    environment = {**os.environ, "KERAS_BACKEND": "torch"}
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    assert "Keras runs on jax" in result.stderr
    assert "KERAS_BACKEND=tensorflow or KERAS_BACKEND=torch" in result.stderr
