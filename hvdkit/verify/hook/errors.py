"""Keeps the traceback of a script's own error, whole and apart from its peers' and its launcher's output."""

from __future__ import annotations

import sys
import time
import traceback
from pathlib import Path
from types import TracebackType

from hvdkit.verify.hook.settings import Settings, launcher_rank

HOOK = str(Path(__file__).parent)


def keep_errors(settings: Settings) -> None:
    """Write an uncaught exception to `errors/TIME rank R`, without this hook's frames; then as without it."""
    report = sys.excepthook

    def keep(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> None:
        shown = traceback.TracebackException(kind, error, place)
        _drop_own_frames(shown)
        folder = settings.path / "errors"
        folder.mkdir(parents=True, exist_ok=True)
        rank = launcher_rank()
        who = "parent" if rank is None else f"rank {rank}"
        # By time: the first error is the cause, the launcher's and the peers' follow from it.
        (folder / f"{time.time_ns()} {who}").write_text(f"{who}:\n{''.join(shown.format())}", "utf-8")
        report(kind, error, place)

    sys.excepthook = keep


def _drop_own_frames(shown: traceback.TracebackException) -> None:
    own = [frame for frame in shown.stack if not frame.filename.startswith(HOOK)]
    shown.stack = traceback.StackSummary.from_list(own)
    for inner in (shown.__cause__, shown.__context__):
        if inner is not None:
            _drop_own_frames(inner)
