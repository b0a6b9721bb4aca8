"""The job ran until its time limit."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log
from hvdkit.explain.scheduler import TIME, killed_for


def find(log: Log) -> Match | None:
    kill = killed_for(log, TIME)
    if kill is None:
        return None
    detail = f" ({kill.detail})" if kill.detail else ""
    return Match(kill.line, {"by": kill.by, "detail": detail, "more": kill.more})


CAUSE = Cause(
    id="time_limit",
    title="{by} ended the job at its time limit{detail}",
    why=(
        "The job was not done when its time was up: it needs longer than was asked for, or it hung. What the"
        " ranks say after that is how they were ended."
    ),
    fix=(
        "{more}, and save checkpoints to go on from; where the last steps are much older than the end, "
        "the job"
        " hung: HOROVOD_STALL_CHECK_TIME_SECONDS=60 names the tensor"
    ),
    find=find,
    excerpt="""\
slurmstepd: error: *** STEP 5521.0 ON c12 CANCELLED AT 2026-03-04T05:06:07 DUE TO TIME LIMIT ***
""",
    level=Level.WAITS,
    general={"by": "the scheduler", "more": "more time (sbatch --time, qsub -l walltime, bsub -W)"},
    source="https://github.com/desihub/desitarget/issues/628",
)
