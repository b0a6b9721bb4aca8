"""HVD118: what keeps a script's import of horovod.torch, said where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import horovod.torch\n\nhorovod.torch.init()\n", "the file writes horovod.torch in full"),
        ("from horovod import run, torch as hvd\n\nhvd.init()\nrun(print)\n", "imports more from horovod"),
        ("import horovod . torch as hvd\n\nhvd.init()\n", "is written with spaces"),
    ],
)
def test_an_import_that_stays_is_left_to_the_person(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    plan = make_plan([path], Options("hvdkit"))
    found = [finding for file in plan.files for finding in file.findings if finding.rule == "HVD118"]
    assert len(found) == 1
    assert reason in found[0].advice
    assert plan.files[0].after.endswith(text)
