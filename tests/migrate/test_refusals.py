"""What is told of programs that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

HELPER = "import torch.distributed as dist\n\ndef start():\n    dist.init_process_group('gloo')\n"
LIGHTNING = "import pytorch_lightning as pl\nimport helper\n\nhelper.start()\npl.Trainer().fit(model)\n"
TRAINING = "import helper\n\nhelper.start()\n"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "lightning.py").write_text(LIGHTNING)
    (tmp_path / "train.py").write_text(TRAINING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_that_only_shares_files_is_told_what_to_type(shared: Path) -> None:
    plan = make_plan([shared], Options())
    told = {program.entry.name: program.refused for program in plan.programs}
    assert told == {
        "lightning.py": "HVD902 at lightning.py:5",
        "train.py": "HVD902 at lightning.py:5, in lightning.py, which shares files with it: "
        "`hvdkit migrate train.py` changes them for both",
    }
    assert not any(file.changed for file in plan.files)


def test_what_is_told_to_type_migrates(shared: Path) -> None:
    plan = make_plan([shared / "train.py"], Options())
    assert not any(program.refused for program in plan.programs)
    assert {file.path.name for file in plan.files if file.changed} == {"helper.py"}
