"""Every collective that is rewritten gives the values that it gave under torch.distributed, on 2 ranks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.migrate.command import main as migrate
from tests import originals
from tests.warm import forked

PROGRAM = Path(__file__).parent / "programs" / "collectives.py"


def run(command: list[str], results: Path) -> list[dict[str, Any]]:
    """Run a job of two ranks; each rank's results, empty where it wrote none."""
    env = originals.environment({**os.environ, "RESULTS": str(results), "OMP_NUM_THREADS": "1"})
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(forked(command, env), env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(Path(f"{results}.{rank}").read_text()) for rank in range(2)]


@pytest.mark.launch
def test_same_values_on_every_rank(tmp_path: Path) -> None:
    script = tmp_path / "collectives.py"
    script.write_text(PROGRAM.read_text())
    # It calls backward() for the gradients of collectives, and trains nothing: rows of a training stay open.
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 1
    assert "torch.distributed" not in script.read_text()

    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    before = run([*torchrun, str(PROGRAM)], tmp_path / "torch")
    after = run([*UNCHECKED, "-np", "2", "--gloo", sys.executable, str(script)], tmp_path / "horovod")
    # Kept results are compared, all of them and with their values: an empty result proves nothing.
    assert len(before[0]) >= 19
    assert before[0]["all_reduce sum"] == [4.5, 7.5]
    assert before[1]["gather_object"] == [[0], [1]]
    assert after == before
