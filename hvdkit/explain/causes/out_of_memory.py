"""The host's or the job's memory was used up, and whoever guards it says so."""

from __future__ import annotations

import signal

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.ended import first
from hvdkit.explain.log import Log
from hvdkit.explain.scheduler import MEMORY, killed_for, victim


def find(log: Log) -> Match | None:
    kill = killed_for(log, MEMORY)
    if kill is None:
        return None
    root, named = first(log), victim(log)
    # A rank that ends after the limit was reported was killed as part of the clean-up.
    before = root and root.signal == signal.SIGKILL and root.line < kill.line
    who = f"rank {root.rank}" if root and before and named == "a process" else named
    detail = f" ({kill.detail})" if kill.detail else ""
    return Match(kill.line, {"who": who, "by": kill.by, "detail": detail, "more": kill.more})


CAUSE = Cause(
    id="out_of_memory",
    title="{who} was killed by {by}: out of memory{detail}",
    why=(
        "All ranks of a host share its memory, and the job's limit where there is one: each rank loads "
        "its own"
        " copy of the data, and each DataLoader worker another. The other ranks fail because this one "
        "is gone."
    ),
    fix="{more}; or fewer num_workers, fewer ranks per host, or data that are read in pieces",
    find=find,
    excerpt="""\
slurmstepd: error: Detected 1 oom_kill event in StepId=8812.0. Some of the step tasks have been  ...
srun: error: gpu-07: task 3: Out Of Memory
""",
    general={
        "who": "a process",
        "by": "the scheduler, Kubernetes, Docker or the kernel",
        "more": "more memory for the job (sbatch --mem, bsub -M, resources.limits.memory)",
    },
    source="https://github.com/hafs-community/HAFS/issues/101",
)
