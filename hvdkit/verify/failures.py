"""A rank that fails where the original, in one process, does not."""

from __future__ import annotations

import re

from hvdkit.observe.records import Run, read_run
from hvdkit.verify.compare import Comparison
from hvdkit.verify.differences import Difference, Stage
from hvdkit.verify.runner import RunError
from hvdkit.verify.tolerance import Tolerance

FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def failed(original: Run, error: RunError, tolerance: Tolerance) -> Comparison | None:
    """What there is to say of a job that ended with its own error, by its record; None where it took no step,
    so that it cannot be run at all."""
    record = error.record
    if record is None:
        return None
    job = read_run(record)
    errors = sorted((record / "errors").glob("* rank *"))
    if not errors or not any(job.taken(rank) for rank in job.steps):
        return None
    rank = int(errors[0].name.split()[-1])
    text = errors[0].read_text(encoding="utf-8").rstrip()
    step = max(taken.number for steps in job.steps.values() for taken in steps)
    difference = Difference(
        *(Stage.ENDING, step, 0, rank, "", "it runs on", text.splitlines()[-1]),
        places=("", _place(text, f"{error.work}/")),
    )
    return Comparison(original, job, tolerance, frozenset(), (difference,), identical=False)


def _place(text: str, folder: str) -> str:
    """The innermost line in a traceback of the script's own files, which are in a folder."""
    own = [(file, line) for file, line in FRAME.findall(text) if file.startswith(folder)]
    return f"{own[-1][0].removeprefix(folder)}:{own[-1][1]}" if own else ""
