"""A migrated script of one process, run on 2 ranks: shares, orders, weights, output and files are right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.migrate.command import main as migrate

PROGRAM = Path(__file__).parent / "programs" / "single.py"
SAMPLES = list(range(24))


@pytest.mark.launch
@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_two_ranks_share_the_work(tmp_path: Path, target: str) -> None:
    script = tmp_path / "single.py"
    script.write_text(PROGRAM.read_text())
    options = ["--write", "--allow-no-vcs", "--no-diff", "--target", target]
    assert migrate(["migrate", str(script), *options]) == 0

    folder = tmp_path / "results"
    env = {**os.environ, "RESULTS": str(folder), "OMP_NUM_THREADS": "1"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    command = ["horovodrun", "-np", "2", "--gloo", sys.executable, str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr

    ranks = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    assert len(ranks) == 2
    assert ranks[0]["weights"] == ranks[1]["weights"]
    assert [rank["rate"] for rank in ranks] == pytest.approx([0.01, 0.01])
    for epoch in ("0", "1"):
        shares = [rank["seen"][epoch] for rank in ranks]
        assert sorted(shares[0] + shares[1]) == SAMPLES  # disjoint, and complete
        assert done.stdout.count(f"epoch {epoch}") == 1
    assert ranks[0]["seen"]["0"] != ranks[0]["seen"]["1"]
    assert ranks[0]["seen"]["0"] != sorted(ranks[0]["seen"]["0"])  # shuffled, as it was
    assert [path.name for path in folder.glob("*.pt")] == ["model.pt"]
