"""One rank of a job that verify does not see: runs a script as python would, and keeps what came of it."""

from __future__ import annotations

import faulthandler
import os
import pickle
import random
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from truth.probe import LIMIT, networks, pretend

SEED = 4201


class Printed:
    """Standard output that is kept as well."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.kept = stream, ""

    def write(self, text: str) -> int:
        """As a stream does."""
        self.kept += text
        return int(self.stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def plain(value: Any) -> Any:
    """Numbers of tensors as lists; containers by their parts; all else by its text."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().flatten().tolist()
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)


def watched() -> int:
    """Run the script of `rank OUT CARDS SCRIPT [ARGUMENT...]`, and write OUT.RANK; its exit code."""
    out, cards, script = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    rank = int(os.environ.get("HOROVOD_RANK", "0"))
    # A script that does not seed itself starts alike in each run, and differently on each rank.
    torch.manual_seed(SEED + rank)
    random.seed(SEED + rank)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED + rank)
    pretend(cards)
    printed = sys.stdout = Printed(sys.stdout)
    code, left = 0, {}
    try:
        left = runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:  # the script's own, whatever it is: told, and the rank fails as python would
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    found = {
        "printed": printed.kept,
        "weights": sorted(([type(n).__name__, plain(n.state_dict())] for n in networks()), key=repr),
    }
    del left
    Path(f"{out}.{rank}").write_bytes(pickle.dumps(found))
    hvd = sys.modules.get("horovod.torch")
    if hvd and hvd.is_initialized() and not code:
        hvd.shutdown()
    return code
