"""The migrations that lie beside the examples are what `hvdkit migrate` writes today, with nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

EXAMPLES = Path(__file__).parents[2] / "examples"
# Script, and whether its migration was made with --suggested.
SCRIPTS = [
    ("gan/train_ddp.py", False),
    ("keras_gan/train.py", False),
    ("quickstart/train.py", False),
    ("segmentation/train_ddp.py", False),
    ("single_gpu/train.py", True),
    ("swav/train_ddp.py", False),
    ("tfrecord/train.py", False),
]


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
@pytest.mark.parametrize(("script", "suggested"), SCRIPTS)
def test_committed_migration_is_todays(script: str, suggested: bool, target: str) -> None:
    path = EXAMPLES / script
    plan = make_plan([path], Options(target, suggested=suggested))
    assert not plan.left
    after = next(file.after for file in plan.files if file.path == path)
    assert after == path.with_name(f"{path.stem}_{target}.py").read_text()


def test_no_example_is_forgotten() -> None:
    """What has a migration beside it is in SCRIPTS, or in test_mnist.py."""
    migrated = {path.parent / path.name.replace("_horovod", "") for path in EXAMPLES.glob("*/*_horovod.py")}
    listed = {EXAMPLES / script for script, _ in SCRIPTS}
    assert {path for path in migrated if path.parent.name != "mnist"} == listed
