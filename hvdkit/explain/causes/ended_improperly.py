"""A rank ended without a word to MPI."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="ended_improperly",
    title="rank {rank} ended on {host} without MPI_Finalize, and mpirun ended the others",
    why=(
        "It left by exit code 0, or by os._exit(), while the others went on: a `return` or sys.exit() "
        "that this rank alone reaches, or fewer batches on it. Where it said why, that comes before "
        "this message."
    ),
    fix=(
        "the same number of steps on all ranks, and hvd.shutdown() or the script's end on all of them; "
        "hvdkit check names exits that one rank alone reaches"
    ),
    find=says(
        r"(?:mpirun|prterun|mpiexec|orterun) has exited due to process rank "
        r"(?P<rank>\d+) with PID \d+ on\s+node (?P<host>\S+) exiting\s+improperly",
    ),
    excerpt="""\
prterun has exited due to process rank 2 with PID 1705216 on node nid003032 exiting
""",
    level=Level.WAITS,
    general={"rank": "RANK", "host": "HOST"},
    source="https://github.com/openpmix/prrte/issues/2694",
)
