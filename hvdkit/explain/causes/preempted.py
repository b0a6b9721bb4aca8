"""The hosts were taken away: preemption, eviction, a failed node."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.log import Log
from hvdkit.explain.scheduler import TAKEN, killed_for


def find(log: Log) -> Match | None:
    kill = killed_for(log, TAKEN)
    if kill is None:
        return None
    said = kill.detail if kill.detail[1:] != kill.detail[1:].upper() else kill.detail.lower()
    return Match(kill.line, {"by": kill.by, "said": said.replace("_", " ")})


CAUSE = Cause(
    id="preempted",
    title="{by} took a host away: {said}",
    why=(
        "The job did nothing wrong: a job of higher priority, an eviction or a failed node ended its ranks on"
        " that host, and the others cannot go on without them."
    ),
    fix="start it again from its last checkpoint; a queue, priority or instance type that is not preempted",
    find=find,
    excerpt="""\
slurmstepd: error: *** JOB 32391 ON cn119 CANCELLED AT 2026-06-18T13:05:36 DUE TO PREEMPTION ***
""",
    general={"by": "the scheduler or the cloud", "said": "preemption, eviction or a failed node"},
    source="https://github.com/SystemsGenetics/GEMmaker/pull/242",
)
