"""hvdkit.api: a plan as data."""

from __future__ import annotations

from pathlib import Path

from hvdkit import api

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart"


def test_migrate_gives_the_text_that_the_command_writes() -> None:
    plan = api.migrate([QUICKSTART / "train.py"])
    assert not plan.leaves
    (file,) = plan.changed
    assert file.after == (QUICKSTART / "train_horovod.py").read_text(encoding="utf-8")


def test_the_target_is_chosen() -> None:
    (file,) = api.migrate([str(QUICKSTART / "train.py")], target="hvdkit").changed
    assert file.after == (QUICKSTART / "train_hvdkit.py").read_text(encoding="utf-8")
