"""hvdkit as a library: what `hvdkit migrate` would change, as data. Nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan

__all__ = ["Plan", "migrate"]


def migrate(
    paths: Iterable[str | os.PathLike[str]], target: str = "horovod", suggested: bool = False
) -> Plan:
    """The plan for scripts and folders: `plan.files` has each file's text before and after, `plan.left` and
    `plan.open` what is left to you.

    Args:
        paths: scripts and folders of one project.
        target: as `--target`.
        suggested: whether to apply changes that alter results, as `--suggested`.
    """
    return make_plan([Path(os.path.abspath(path)) for path in paths], Options(target, suggested=suggested))
