"""`hvdkit verify --hosts` on two hosts: both scripts start there, and what the ranks did is read back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .hosts import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

SCRIPTS = Path(__file__).parents[1] / "verify" / "fixtures" / "hosts"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(SCRIPTS, tmp_path / "project")
    return tmp_path / "project"


def verify(pair: Cluster, project: Path, edits: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the result for the fixture's scripts, the migrated with these texts replaced."""
    migrated = project / "migrated.py"
    text = migrated.read_text()
    for old, new in edits.items():
        assert old in text, f"the fixture has changed: {old!r} is not in it"
        text = text.replace(old, new)
    migrated.write_text(text)
    command = ["python", "-m", "hvdkit", "verify", "original.py", "migrated.py", "--hosts", "a:1,b:1"]
    done = pair.run(
        "a", [*command, "--steps", "2", "--json=result.json"], timeout=1500, cwd=project, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, json.loads((project / "result.json").read_text())


def test_a_right_migration_agrees_and_leaves_nothing(pair: Cluster, project: Path) -> None:
    before = sorted(path.name for path in project.iterdir())
    code, result = verify(pair, project, {})
    assert code == 0, result["differences"]
    assert result["verdict"] == "agree: bit for bit, 2 steps on 2 ranks"
    assert {(each["rank"], each["step"]) for each in result["compared"]} == {
        (r, s) for r in (0, 1) for s in range(3)
    }
    assert sorted(path.name for path in project.iterdir()) == sorted([*before, "result.json"])
    assert not pair.processes("a") and not pair.processes("b")


def test_the_local_rank_in_the_place_of_the_rank(pair: Cluster, project: Path) -> None:
    """It is 0 on both hosts: all ranks train on the same samples."""
    code, result = verify(pair, project, {"rank=hvd.rank()": "rank=hvd.local_rank()"})
    assert code == 1
    assert "same samples" in result["causes"][0]["text"], result["causes"]
