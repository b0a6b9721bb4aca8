"""The job was cancelled, and no line says why."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log
from hvdkit.explain.scheduler import CANCELLED, killed_for


def find(log: Log) -> Match | None:
    kill = killed_for(log, CANCELLED)
    return Match(kill.line, {"by": kill.by, "said": kill.detail}) if kill else None


CAUSE = Cause(
    id="cancelled",
    title="the job was cancelled through {by}: {said}",
    why=(
        "Somebody cancelled it (scancel, bkill, qdel), or the launcher did after one task had failed, "
        "whose own"
        " words are not in this log."
    ),
    fix="sacct -j JOB --format=JobID,State,ExitCode or bhist -l JOB says how each task ended",
    find=find,
    excerpt="""\
slurmstepd: error: *** STEP 63532.0 ON cn106 CANCELLED AT 2026-12-14T09:43:55 ***
""",
    level=Level.FOLLOWS,
    general={"by": "the scheduler", "said": "STEP"},
    source="https://github.com/ai4d-iasc/trixie/issues/45",
)
