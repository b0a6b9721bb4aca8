"""A rank waited for another one's data until Gloo gave up."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="gloo_timeout",
    title="Gloo timed out{where}: no data came from another rank for {time}",
    why=(
        "In the middle of a collective nothing came from another rank in that time: it is late (the "
        "first step compiles, it saves a checkpoint, its data are slow), hangs, or is gone. The time is "
        "HOROVOD_GLOO_TIMEOUT_SECONDS, 30 unless set."
    ),
    fix=(
        "where a rank may be late: horovodrun --gloo-timeout-seconds 600 "
        "(HOROVOD_GLOO_TIMEOUT_SECONDS=600); where one hangs: py-spy dump --pid PID on each rank's host "
        "shows where it is stuck"
    ),
    find=says(
        r"Timed out waiting (?P<time>\d+ ?(?:ms|s|seconds)) for (?:recv|send) operation to complete",
        r"Application timeout caused pair closure(?P<time>)",
        in_job=True,
    ),
    excerpt="""\
[2026-06-01 10:00:00.1: E horovod/common/operations.cc:654] [0]: Horovod background loop uncaug ...
""",
    level=Level.WAITS,
    general={"time": "30 s"},
    source="https://github.com/horovod/horovod/issues/1374",
)
