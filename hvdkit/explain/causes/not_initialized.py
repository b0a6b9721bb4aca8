"""Horovod is used before init()."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="not_initialized",
    title="Horovod is used before hvd.init(){where}",
    why=(
        "rank, size and every collective need a job, which hvd.init() joins; a module-level "
        "hvd.rank() in an imported file runs before it, too."
    ),
    fix="call hvd.init() first, before what uses hvd.rank() is imported",
    find=says(
        r"Horovod has not been initialized; use hvd\.init\(\)",
    ),
    excerpt="""\
ValueError: Horovod has not been initialized; use hvd.init().
""",
)
