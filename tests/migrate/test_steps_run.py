"""Every form of optimizer step in steps/, migrated and run on two ranks: bit for bit what DDP computes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from tests import originals
from tests.warm import forked

STEPS = Path(__file__).parent / "steps"
LIBRARIES = Path(__file__).parent / "libraries"  # outside of the project, as what pip installs
LINE = re.compile(r"([a-z_]+) rank ([01]) ([0-9a-f]{64})")
LOOPS = 20
TORCHRUN = (sys.executable, "-m", "torch.distributed.run")


def run(folder: Path, *launcher: str) -> dict[tuple[str, str], str]:
    """The digests that train.py prints, by loop and rank."""
    given = originals.environment(os.environ)
    environ = {
        **given,
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PYTHONPATH": os.pathsep.join([str(LIBRARIES), given["PYTHONPATH"]]),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = forked([*launcher, "train.py"], environ)
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return {(loop, rank): digest for loop, rank, digest in LINE.findall(done.stdout)}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """What DDP computes."""
    folder = tmp_path_factory.mktemp("original") / "steps"
    shutil.copytree(STEPS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    digests = run(folder, *TORCHRUN, "--standalone", "--nproc_per_node", "2")
    assert len(digests) == 2 * LOOPS
    assert all(digest == digests[loop, "0"] for (loop, _), digest in digests.items())
    return digests


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_nothing_is_left(target: str) -> None:
    """Seen without a launch, so that a rule which refuses one of these forms is seen at once."""
    plan = make_plan([STEPS], Options(target))
    assert not plan.left
    assert not [file for file in plan.files if file.problem or "DDP" in file.after]


@pytest.mark.launch
@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_same_weights(original: dict[tuple[str, str], str], target: str, tmp_path: Path) -> None:
    for file in make_plan([STEPS], Options(target)).files:
        (tmp_path / file.path.name).write_text(file.after)
    assert run(tmp_path, *UNCHECKED, "-np", "2", "--gloo", sys.executable) == original
