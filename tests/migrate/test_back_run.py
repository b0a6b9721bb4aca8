"""What comes back from Horovod computes the same on two ranks: under horovodrun, and under torchrun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.migrate.command import main as migrate
from tests import originals
from tests.migrate import back_before_steps
from tests.migrate.back_rows import PRELUDE, Row
from tests.migrate.back_rows import ROWS as THROUGH_DDP
from tests.warm import forked

HOROVODRUN = [*UNCHECKED, "-np", "2", "--gloo", sys.executable]
ROWS = (*THROUGH_DDP, *back_before_steps.ROWS)
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
# All rows in turn, in one start of the ranks: starting them is what takes the time.
EVERY_ROW = (
    "import runpy, sys\nfor script in sys.argv[1:]:\n    runpy.run_path(script, run_name='__main__')\n"
)


def run(command: list[str], scripts: list[Path], results: Path) -> list[Any]:
    """What two ranks left of each row."""
    results.mkdir()
    every = results / "every.py"
    every.write_text(EVERY_ROW)
    env = originals.environment({**os.environ, "RESULTS": str(results), "OMP_NUM_THREADS": "1"})
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    words = forked([*command, str(every), *map(str, scripts)], env)
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return [[torch.load(results / f"{row.name}.{rank}") for rank in range(2)] for row in ROWS]


def alike(one: Any, other: Any) -> bool:
    """Whether two ranks left the same tensors."""
    return all(torch.equal(mine, yours) for mine, yours in zip(one[0], other[0]))


@pytest.mark.launch
def test_each_row_computes_what_it_computed_with_horovod(tmp_path: Path) -> None:
    scripts = [tmp_path / f"{row.name}.py" for row in ROWS]
    for script, row in zip(scripts, ROWS):
        script.write_text(PRELUDE + row.text)
    back = tmp_path / "back"
    assert migrate(["migrate", "--target", "ddp", "--output", str(back), *map(str, scripts)]) == 0
    before = run(HOROVODRUN, scripts, tmp_path / "horovod")
    after = run(TORCHRUN, [back / script.name for script in scripts], tmp_path / "ddp")
    for row, horovod, ddp in zip(ROWS, before, after):
        if row.parts:
            assert not alike(*horovod) and alike(*ddp), row.name
            continue
        for (tensors, others), (found, more) in zip(horovod, ddp):
            assert others == more, row.name
            assert len(tensors) == len(found)
            for wanted, got in zip(tensors, found):
                assert wanted.shape == got.shape and wanted.dtype == got.dtype, row.name
                torch.testing.assert_close(got, wanted, rtol=0, atol=row.tolerance, msg=row.name)


@pytest.mark.launch
@pytest.mark.parametrize(
    ("row", "written"), [(THROUGH_DDP[0], "DDP(model"), (back_before_steps.ROWS[0], "average_before_steps(")]
)
def test_verify_compares_the_horovod_script_with_what_it_becomes(
    row: Row,
    written: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESULTS", str(tmp_path))
    script = tmp_path / "train.py"
    script.write_text(PRELUDE + row.text)
    options = ["--target", "ddp", "--write", "--verify", "--allow-no-vcs", "--steps", "2"]
    code = migrate(["migrate", script.name, *options])
    shown = capsys.readouterr().out
    assert "bit for bit, 2 steps on 2 ranks" in shown
    assert code == 0 and written in script.read_text()
