"""Which modules of its project a script has imported, and whether it has a process group.

How a script is started is read from its code before it runs; some imports lead where only Python finds the
module.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path

import torch

from hvdkit.verify.environments import in_environment
from hvdkit.verify.hook.beginning import LOADED
from hvdkit.verify.hook.settings import Settings

_WORK = Path.cwd()
_LIBRARIES = (sysconfig.get_path("stdlib"), str(Path(__file__).parents[2]))


def note_loaded(settings: Settings) -> None:
    """Leave what a process has loaded until it trains; only of a script that is run as one process."""
    if settings.world > 1:
        return
    files = {getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]}
    own = [str(_relative(Path(file))) for file in sorted(files) if _is_of_project(file)]
    has_group = torch.distributed.is_available() and torch.distributed.is_initialized()
    found = {"modules": own, "process group": has_group}
    (settings.path / LOADED).write_text(json.dumps(found), encoding="utf-8")


def _relative(file: Path) -> Path:
    return file.relative_to(_WORK) if file.is_relative_to(_WORK) else file


def _is_of_project(file: str) -> bool:
    path = Path(file)
    if path.suffix != ".py" or file.startswith(_LIBRARIES):
        return False
    return not {"site-packages", "dist-packages"}.intersection(path.parts) and not in_environment(path)
