"""A few programs of benchmarks/truth_tf.py, whose claims are held to what their ranks do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.launch, pytest.mark.once]


def test_no_claim_is_false(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "truth_tf.py"), "--seed", "9", "--programs", "4"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 programs:" in ran.stdout
    assert "0 with a false yes" in ran.stdout
