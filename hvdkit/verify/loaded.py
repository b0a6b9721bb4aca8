"""What a run of one process shows about how its script is started: the modules that it has imported."""

from __future__ import annotations

import json
from pathlib import Path

from hvdkit.observe.records import Run
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.hook.beginning import LOADED


def start_of_ranks(script: Path, run: Run, here: Path) -> Start | None:
    """How a script that was run as one process starts its ranks; None where it is one process.

    here: the folder that the run was made in, as it is now.
    """
    file = run.folder / LOADED
    if not file.is_file():
        return None  # not PyTorch
    seen = json.loads(file.read_text(encoding="utf-8"))
    loaded = [path for path in (here / name for name in seen["modules"]) if path.is_file()]
    start = how_to_start(script, loaded)
    if start.launcher is Launcher.TORCHRUN:
        return start
    return Start(Launcher.TORCHRUN) if seen["process group"] else None
